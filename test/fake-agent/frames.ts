import type { Fields } from './json.ts';
import { disallowedNames } from './permissions.ts';
import type { Session } from './session.ts';

/** Lines of the agent CLI's output, in the shapes that the real one prints. */
export const model = 'scripted-agent';
const tools = ['Bash', 'Edit', 'Read', 'WebFetch', 'Write'];

export function initFrame(session: Session): Fields {
  const withheld = disallowedNames(session);
  return {
    type: 'system',
    subtype: 'init',
    cwd: process.cwd(),
    tools: tools.filter((tool) => !withheld.has(tool)),
    mcp_servers: Object.keys(session.mcpServers).map((name) => ({ name, status: 'pending' })),
    model: session.args.one('--model') ?? model,
    permissionMode: 'bypassPermissions',
    apiKeySource: 'ANTHROPIC_API_KEY',
    claude_code_version: 'scripted',
  };
}

export function replayFrame({ uuid, text }: { uuid: string; text: string }): Fields {
  return {
    type: 'user',
    message: { role: 'user', content: text },
    parent_tool_use_id: null,
    uuid,
    isReplay: true,
  };
}

export function assistantMessage(id: string, content: Fields): Fields {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [content],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 1 },
  };
}

export function assistantFrame(message: Fields): Fields {
  return { type: 'assistant', message, parent_tool_use_id: null };
}

export interface ToolOutcome {
  text: string;
  isError: boolean;
}

export function toolResultFrame(toolUseId: string, { text, isError }: ToolOutcome): Fields {
  const block = {
    tool_use_id: toolUseId,
    type: 'tool_result',
    content: text,
    ...(isError && { is_error: true }),
  };
  return {
    type: 'user',
    message: { role: 'user', content: [block] },
    parent_tool_use_id: null,
    tool_use_result: text,
  };
}

export function noteFrame(text: string): Fields {
  return {
    type: 'user',
    message: { role: 'user', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
  };
}

export interface TurnTotals {
  subtype: string;
  /** Absent on success. */
  errors: readonly string[] | undefined;
  result: string;
  durationMs: number;
  numTurns: number;
  inputTokens: number;
  outputTokens: number;
  totalCostUsd: number;
}

/** The key order is the real one's: the type comes late. */
export function resultFrame(totals: TurnTotals): Fields {
  const { errors, result, durationMs } = totals;
  return {
    duration_api_ms: durationMs,
    stop_reason: errors === undefined ? 'end_turn' : null,
    total_cost_usd: totals.totalCostUsd,
    usage: {
      input_tokens: totals.inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: totals.outputTokens,
    },
    modelUsage: {},
    permission_denials: [],
    is_error: errors !== undefined,
    num_turns: totals.numTurns,
    subtype: totals.subtype,
    ...(errors === undefined ? { result } : { errors }),
    type: 'result',
    duration_ms: durationMs,
  };
}
