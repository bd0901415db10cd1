// The entries of a conversation, as plain data.

interface EntryBase {
  /** Unique among the entries beside it. */
  key: string;
  /** The frame that the entry comes from. */
  seq: number | null;
}

/** A message to the agent: the prompt of a run, or a message of a session. */
export interface MessageEntry extends EntryBase {
  kind: 'message';
  messageId: string | null;
  text: string;
  /** From 1; higher if the turn was run again. */
  attempt: number;
  /** Null until the turn of the message has ended. */
  end: { exitCode: number; error: string | null } | null;
}

/** A block of the agent's answer. */
export interface TextEntry extends EntryBase {
  kind: 'text';
  text: string;
  /** The text reports an error of the model API. */
  isError: boolean;
}

export interface ThinkingEntry extends EntryBase {
  kind: 'thinking';
  text: string;
}

/** A call of a tool with its result, and the work of the subagent that it has started. */
export interface ToolEntry extends EntryBase {
  kind: 'tool';
  toolUseId: string;
  name: string;
  input: Readonly<Record<string, unknown>>;
  /** `stopped`: the turn has ended without a result. */
  state: 'running' | 'done' | 'failed' | 'stopped';
  result: string | null;
  /** The changed parts of a file. */
  patch: readonly PatchHunk[];
  children: readonly Entry[];
}

export interface PatchHunk {
  oldStart: number;
  newStart: number;
  /** Each begins with a space, a plus or a minus. */
  lines: readonly string[];
}

export interface QuestionEntry extends EntryBase {
  kind: 'question';
  interactionId: string;
  toolName: string;
  questions: readonly Readonly<Record<string, unknown>>[];
  state: 'open' | 'answered' | 'withdrawn';
}

/** Something that happened besides the conversation. */
export interface NoticeEntry extends EntryBase {
  kind: 'notice';
  notice:
    | 'agent_error'
    | 'api_retry'
    | 'compacted'
    | 'files_skipped'
    | 'frames_missing'
    | 'interrupted'
    | 'state_rolled_back';
  text: string;
}

export type Entry =
  | MessageEntry
  | TextEntry
  | ThinkingEntry
  | ToolEntry
  | QuestionEntry
  | NoticeEntry;
