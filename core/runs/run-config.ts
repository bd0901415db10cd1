/** An MCP server as the agent's configuration file names it; remote transports only. */
export interface McpServer {
  type: 'http' | 'sse';
  url: string;
  headers?: Record<string, string>;
}

export type McpServers = Record<string, McpServer>;

/**
 * What one run brings along and no client may read back: sealed at admission, handed to the
 * sandbox once, deleted when it has been acknowledged.
 */
export interface RunConfig {
  env: Record<string, string>;
  mcpServers: McpServers;
  /** `merge`: the flow's servers and these, these win by name; `replace`: only these. */
  mcpMode: 'merge' | 'replace';
  appendSystemPrompt: string | null;
  disallowedTools: string[];
  /** From `X-Ctx-*` headers, by the part of the name after the prefix. */
  context: Record<string, string>;
}

export const configFields = [
  'env',
  'mcpServers',
  'mcpMode',
  'appendSystemPrompt',
  'disallowedTools',
  'context',
] as const;

export type SecretField = (typeof configFields)[number];

/** What differs from an empty configuration, by name; of the rest nothing is lost. */
export function nonEmptyFields(config: RunConfig): SecretField[] {
  return configFields.filter((field) => !isEmpty(config, field));
}

function isEmpty(config: RunConfig, field: SecretField): boolean {
  const value = config[field];
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === emptyRunConfig[field];
}

export const emptyRunConfig: RunConfig = {
  env: {},
  mcpServers: {},
  mcpMode: 'merge',
  appendSystemPrompt: null,
  disallowedTools: [],
  context: {},
};
