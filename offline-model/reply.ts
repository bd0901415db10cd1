/** One reply of the model, as a list of things to send in order. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; thinking: string }
  | { kind: 'tool'; name: string; input: Readonly<Record<string, unknown>> }
  | { kind: 'delay'; delayMs: number }
  | { kind: 'cut' };

export type StopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal';

export interface UsageNumbers {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  /** The tools that the model API runs on its own servers. */
  server_tool_use?: { web_search_requests: number };
}

export interface MessageReply {
  kind: 'message';
  parts: readonly Part[];
  stopReason: StopReason;
  usage?: Partial<UsageNumbers>;
}

interface ErrorReply {
  kind: 'error';
  status: number;
  message?: string;
  retryAfterSeconds?: number;
}

export type Reply = MessageReply | ErrorReply;

/** The stop reason is `tool_use` if the message calls tools. */
export function message(parts: readonly Part[]): MessageReply {
  const callsTools = parts.some((part) => part.kind === 'tool');
  return { kind: 'message', parts, stopReason: callsTools ? 'tool_use' : 'end_turn' };
}

export function say(text: string): Part {
  return { kind: 'text', text };
}

export function callTool(name: string, input: Readonly<Record<string, unknown>>): Part {
  return { kind: 'tool', name, input };
}
