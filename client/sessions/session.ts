import { type FileContent, toInputFile } from '../files/input-files.ts';
import type {
  ChangeConfigBody,
  ChangedConfig,
  LogEntries,
  OpenedSession,
  OpenSessionBody,
  QueuedMessage,
  RunDetails,
  SessionDetails,
  Turn,
  UnfinishedMessage,
} from '../generated/types.ts';
import { NotFound } from '../http/errors.ts';
import type { Http } from '../http/http.ts';
import { openRun, type Run } from '../runs/run.ts';
import { followRun } from '../stream/follow.ts';
import { type PendingTurn, pendingTurn } from './turn.ts';

export interface SessionOptions extends Omit<OpenSessionBody, 'sessionId'> {
  /** An existing session with this ID is continued. The default is a new session. */
  id?: string;
  signal?: AbortSignal;
}

export interface MessageOptions {
  files?: readonly FileContent[];
  /** Deduplicates the message within its session. The default is a random ID. */
  clientMessageId?: string;
  signal?: AbortSignal;
}

export interface Session {
  readonly sessionId: string;
  readonly flowId: string;
  /** The run of the whole session: its events, files and questions. */
  readonly run: Run;
  /** Sends a message, which is one turn. Messages that are sent during a turn are queued. */
  send(message: string, options?: MessageOptions): PendingTurn;
  read(): Promise<SessionDetails>;
  /** Yields the message in progress and the queued ones. */
  messages(): AsyncGenerator<UnfinishedMessage, void, undefined>;
  /** Removes a queued message. */
  withdraw(messageId: string): Promise<void>;
  /** Changes the configuration from the next turn on; null removes a value. */
  configure(changes: ChangeConfigBody): Promise<ChangedConfig>;
  end(): Promise<void>;
}

/** Opens a session with an ID that the client chooses, so that the request can be repeated. */
export async function openSession(
  http: Http,
  flowId: string,
  { id = crypto.randomUUID(), signal, ...options }: SessionOptions,
): Promise<Session> {
  const { sessionId, runId } = await http.data<OpenedSession>({
    method: 'POST',
    path: `/flows/${flowId}/sessions`,
    json: { ...options, sessionId: id },
    isRepeatable: true,
    signal,
  });
  const record = await http.data<RunDetails>({ path: `/runs/${runId}`, signal });
  return sessionOf(http, openRun(http, record), sessionId);
}

/** The session of a run, for callers that have a run token and may open none. */
export async function getSession(http: Http, runId: string): Promise<Session> {
  const record = await http.data<RunDetails>({ path: `/runs/${encodeURIComponent(runId)}` });
  const { sessionId } = record;
  if (sessionId !== null) return sessionOf(http, openRun(http, record), sessionId);
  throw new NotFound({ code: 'NOT_FOUND', message: `The run ${runId} is not a session.` });
}

function sessionOf(http: Http, run: Run, sessionId: string): Session {
  const { flowId } = run.record;
  const path = `/flows/${flowId}/sessions/${encodeURIComponent(sessionId)}`;

  /** Messages arrive in the order in which they are sent. */
  let previous: Promise<unknown> = Promise.resolve();

  function send(message: string, { files, signal, ...options }: MessageOptions = {}): PendingTurn {
    const json = {
      sessionId,
      message,
      clientMessageId: options.clientMessageId ?? crypto.randomUUID(),
      ...(files === undefined ? {} : { files: files.map(toInputFile) }),
    };
    // The turn of a message that was sent before may have ended.
    const isRepeated = options.clientMessageId !== undefined;
    const lastSeq = previous.then(() => (isRepeated ? 0 : readLastSeq(http, run.runId, signal)));
    lastSeq.catch(() => undefined);
    const turn = pendingTurn({
      async send({ isWaiting }) {
        await lastSeq;
        return http.data<Turn | QueuedMessage>({
          method: 'POST',
          path: `/flows/${flowId}/chat`,
          json: { ...json, stream: !isWaiting },
          isRepeatable: true,
          timeoutMs: waitMaxMs,
          signal,
        });
      },
      async *follow() {
        yield* followRun({ http, runId: run.runId, after: await lastSeq, signal });
      },
    });
    previous = turn.queued.catch(() => undefined);
    return turn;
  }

  return {
    sessionId,
    flowId,
    run,
    send,
    read: () => http.data({ path }),
    messages: () => http.items({ path: `${path}/messages` }),
    async withdraw(messageId) {
      await http.remove({ path: `${path}/messages/${encodeURIComponent(messageId)}` }, undefined);
    },
    configure: (changes) => http.data({ method: 'PATCH', path: `${path}/config`, json: changes }),
    async end() {
      await http.remove({ path }, undefined);
    },
  };
}

/** The service waits for a turn for five minutes at most. */
const waitMaxMs = 330_000;

/** The turn of a message that is sent now begins after this frame. */
async function readLastSeq(http: Http, runId: string, signal?: AbortSignal): Promise<number> {
  const query = { format: 'structured', channel: 'all', order: 'desc', limit: 1 };
  const { entries } = await http.data<LogEntries>({ path: `/runs/${runId}/logs`, query, signal });
  return entries[0]?.seq ?? 0;
}
