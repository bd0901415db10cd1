import type { NetworkPolicy } from '../flows/flow.ts';
import { serviceServerName } from '../runs/child-runs.ts';
import type { McpServers, RunConfig } from '../runs/run-config.ts';
import { type SandboxConfig, sandboxPaths } from '../sandbox/sandbox-config.ts';
import { agentSettings } from './agent-settings.ts';

/** Everything that determines the agent's command. */
export interface AgentPlan {
  flow: {
    instructions: string | null;
    disallowedTools: string[];
    networkPolicy: NetworkPolicy;
    env: Record<string, string>;
    mcpServers: McpServers;
    /** Whether the agent may start runs, as tools of this service. */
    startsRuns: boolean;
  };
  config: RunConfig;
  run: {
    partialMessages: boolean;
    model: string | null;
    maxTurns: number | null;
    /** JSON text. */
    outputSchema: string | null;
    /** Maximum length of one answer; null: the agent's default. */
    answerTokensMax: number | null;
  };
  /** The agent's conversation, a UUID; resumed only if its transcript exists. */
  conversation: { id: string; resume: boolean };
}

/** The arguments, environment and files of the agent process. */
export function agentCommand(plan: AgentPlan): SandboxConfig {
  const files = [...mcpFiles(plan), ...systemPromptFile(plan)];
  return { args: argumentsOf(plan, files), env: environmentOf(plan), files };
}

type AgentFile = SandboxConfig['files'][number];

const flowServersFile = 'flow-mcp.json';
const runServersFile = 'run-mcp.json';
const systemPromptName = 'system-prompt.md';

/**
 * The last three flags are a security boundary: without them, files in the working directory and
 * settings that the agent writes could redirect the model's address, run hooks and start servers.
 */
const fixedArguments = [
  '-p',
  '--verbose',
  '--output-format',
  'stream-json',
  '--input-format',
  'stream-json',
  '--replay-user-messages',
  '--dangerously-skip-permissions',
  '--permission-prompt-tool',
  'stdio',
  '--setting-sources',
  'user',
  '--strict-mcp-config',
  '--settings',
  agentSettings(),
];

/** Plan mode waits for an approval, and no person is present to give it. */
const planning = ['EnterPlanMode', 'ExitPlanMode'];

/**
 * Tools that run on servers of the model API. The gateway refuses them unless the policy is `open`.
 */
const serverTools = ['WebSearch'];

function argumentsOf(plan: AgentPlan, files: AgentFile[]): string[] {
  const servers = files.filter((file) => file.name !== systemPromptName).map(pathOf);
  const prompt = files.filter((file) => file.name === systemPromptName).map(pathOf);
  return [
    ...fixedArguments,
    ...flag('--mcp-config', servers),
    ...flag('--append-system-prompt-file', prompt),
    // Without it, a resumed conversation keeps its first system prompt, even if there is none now.
    ...flag(
      '--system-prompt-snapshot',
      prompt.length > 0 || plan.conversation.resume ? ['off'] : [],
    ),
    ...flag('--disallowedTools', disallowedTools(plan)),
    ...(plan.run.partialMessages ? ['--include-partial-messages'] : []),
    ...option('--model', plan.run.model),
    ...option('--max-turns', plan.run.maxTurns),
    ...option('--json-schema', plan.run.outputSchema),
    ...flag(plan.conversation.resume ? '--resume' : '--session-id', [plan.conversation.id]),
  ];
}

function disallowedTools({ flow, config }: AgentPlan): string[] {
  const withheld = flow.networkPolicy === 'open' ? planning : [...planning, ...serverTools];
  return [...new Set([...withheld, ...flow.disallowedTools, ...config.disallowedTools])];
}

function option(name: string, value: string | number | null): string[] {
  return flag(name, value === null ? [] : [String(value)]);
}

/** Rejects values that the agent would read as flags, even if they were validated before. */
function flag(name: string, values: string[]): string[] {
  const forged = values.find((value) => value.startsWith('-'));
  if (forged !== undefined) throw new Error(`a value of ${name} begins with a dash`);
  return values.length === 0 ? [] : [name, ...values];
}

function pathOf(file: AgentFile): string {
  return `${sandboxPaths.filesDir}/${file.name}`;
}

/** If two files name the same server, the agent uses the later one. */
function mcpFiles({ flow, config }: AgentPlan): AgentFile[] {
  const offered = { ...(flow.startsRuns ? serviceServer : {}), ...flow.mcpServers };
  const fromFlow = config.mcpMode === 'merge' ? serversFile(flowServersFile, offered) : [];
  return [...fromFlow, ...serversFile(runServersFile, config.mcpServers)];
}

/** The host adds the agent token, and forwards the calls to the API. */
const serviceServer: McpServers = {
  [serviceServerName]: { type: 'http', url: `http://127.0.0.1:${sandboxPaths.proxyPort}/mcp` },
};

function serversFile(name: string, mcpServers: McpServers): AgentFile[] {
  if (Object.keys(mcpServers).length === 0) return [];
  return [{ name, content: JSON.stringify({ mcpServers }) }];
}

/** The request's text is appended to the flow's instructions and never replaces them. */
function systemPromptFile({ flow, config }: AgentPlan): AgentFile[] {
  const parts = [flow.instructions, config.appendSystemPrompt].filter((part) => part !== null);
  const content = parts.filter((part) => part !== '').join('\n\n');
  return content === '' ? [] : [{ name: systemPromptName, content }];
}

function environmentOf({ flow, config, run }: AgentPlan): Record<string, string> {
  const context: [string, string][] = Object.entries(config.context).map(([name, value]) => [
    `FLOW_CTX_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`,
    value,
  ]);
  const { answerTokensMax } = run;
  return {
    ...flow.env,
    ...config.env,
    ...Object.fromEntries(context),
    ...(answerTokensMax !== null && { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(answerTokensMax) }),
  };
}
