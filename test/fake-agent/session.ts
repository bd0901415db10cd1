import { readFileSync } from 'node:fs';
import { type Arguments, UsageError } from './arguments.ts';
import { type Fields, isFields } from './json.ts';
import { openTranscript, type Transcript } from './transcript.ts';

/** Everything that outlasts a turn. */
export interface Session {
  id: string;
  args: Arguments;
  transcript: Transcript;
  /** Messages of the whole conversation, in order. */
  messages: string[];
  costUsd: number;
  systemPrompt: string;
  mcpServers: Readonly<Record<string, unknown>>;
  /** Exit code at the end of input. */
  exitCode: number;
  /** Set by a script: end of input and interrupts are ignored, or the process never ends. */
  isDeaf: boolean;
  neverEnds: boolean;
  resultCount: number;
  /** What waits for an answer of whoever started the agent, by id. */
  requests: Map<string, (response: Fields) => void>;
  backgroundTasks: number;
}

export class NoConversationError extends Error {
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`No conversation found with session ID: ${sessionId}`);
    this.sessionId = sessionId;
  }
}

/** Opens the session that the command line names; refuses to make one twice or to resume one that is not there. */
export function openSession(args: Arguments, newId: () => string): Session {
  const resumed = args.one('--resume');
  const id = resumed ?? args.one('--session-id') ?? newId();
  const transcript = openTranscript(id);
  if (resumed !== undefined && !transcript.exists) {
    throw new NoConversationError(id);
  }
  if (resumed === undefined && transcript.exists) {
    throw new UsageError(`Error: Session ID ${id} is already in use.`);
  }
  return {
    id,
    args,
    transcript,
    messages: [...transcript.messages],
    costUsd: transcript.costUsd,
    systemPrompt: systemPromptOf(args, transcript),
    mcpServers: readMcpServers(args.many('--mcp-config')),
    exitCode: 0,
    isDeaf: false,
    neverEnds: false,
    resultCount: 0,
    requests: new Map(),
    backgroundTasks: 0,
  };
}

/** A resumed conversation keeps the prompt it began with, unless snapshots of it are off. */
function systemPromptOf(args: Arguments, transcript: Transcript): string {
  const file = args.one('--append-system-prompt-file');
  const given =
    file === undefined ? args.one('--append-system-prompt') : readFileSync(file, 'utf8');
  const kept =
    args.one('--system-prompt-snapshot') === 'off' ? undefined : transcript.appendedSystemPrompt;
  return kept ?? given ?? '';
}

/** Later files win per server name; a malformed entry is dropped without a word, as the CLI does. */
function readMcpServers(paths: readonly string[]): Fields {
  const entries = paths.flatMap((path) => {
    const config: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const servers = isFields(config) ? config['mcpServers'] : undefined;
    return isFields(servers) ? Object.entries(servers) : [];
  });
  return Object.fromEntries(entries.filter(([, server]) => isFields(server) && 'type' in server));
}
