/** An MCP server as in the agent's configuration file; remote transports only. */
export interface McpServer {
  type: 'http' | 'sse';
  url: string;
  headers?: Record<string, string>;
}

export type McpServers = Record<string, McpServer>;

/**
 * The secret part of a run's request, which no client can read back: encrypted at admission,
 * delivered to the sandbox once, deleted once acknowledged.
 */
export interface RunConfig {
  env: Record<string, string>;
  mcpServers: McpServers;
  /**
   * `merge`: added to the flow's servers, replacing those of the same name; `replace`: only these.
   */
  mcpMode: 'merge' | 'replace';
  appendSystemPrompt: string | null;
  disallowedTools: string[];
  /** The values of `X-Ctx-*` headers, by the part of the name after the prefix. */
  context: Record<string, string>;
}

const configFields = [
  'env',
  'mcpServers',
  'mcpMode',
  'appendSystemPrompt',
  'disallowedTools',
  'context',
] as const;

export type SecretField = (typeof configFields)[number];

/** The fields that differ from an empty configuration. */
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
