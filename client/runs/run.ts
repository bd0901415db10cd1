import { type RunChanges, runChanges } from '../files/changes.ts';
import { type RunFiles, runFiles } from '../files/run-files.ts';
import type { DeletedRun, RunDetails, RunRecord, RunToken } from '../generated/types.ts';
import type { Http } from '../http/http.ts';
import type { RunEvent } from '../stream/events.ts';
import { type FollowOptions, followRun } from '../stream/follow.ts';
import { type LogEntry, type LogOptions, readLog } from '../stream/read-log.ts';
import { type OutputSchema, validateOutput } from './output-schema.ts';
import { type RunResult, resultOf } from './result.ts';
import { type RunOptions, runRequest } from './run-request.ts';

interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Answers keyed by the text of the question; a list selects several options. */
export type Answers = Record<string, string | string[]>;

export interface Run<T = unknown> {
  readonly runId: string;
  /** The run as it was when this object was created. `read` returns its current state. */
  readonly record: RunRecord;
  readonly files: RunFiles;
  readonly changes: RunChanges;
  /**
   * Yields every event of the run from its beginning, each once, and ends after `finished`.
   * Reconnects until then.
   */
  events(options?: FollowOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** Yields the stored events without waiting for further ones. */
  log(options?: LogOptions): AsyncGenerator<LogEntry, void, undefined>;
  /** Waits for the end of the run. Throws `RunFailed` if the run did not complete cleanly. */
  result(options?: CallOptions): Promise<RunResult<T>>;
  read(options?: CallOptions): Promise<RunDetails>;
  answer(
    interaction: { interactionId: string } | { data: { interactionId: string } },
    answers: Answers,
  ): Promise<void>;
  /** Sets the given labels; null removes one. */
  setLabels(labels: Record<string, string | null>): Promise<RunRecord>;
  /** Asks the agent to end, and ends it after `graceSeconds`. */
  stop(options?: { graceSeconds?: number }): Promise<RunRecord>;
  /** Ends a plain run, or the current turn of a session. It is not repeated if it fails. */
  interrupt(): Promise<RunRecord>;
  delete(): Promise<DeletedRun>;
  /** Starts a run of the same flow with the input of this one, which must have ended. */
  retry(options?: RunOptions): Promise<Run>;
  /** Creates a token for this run, which a web page can use instead of a key. */
  createToken(options?: { expiresInSeconds?: number }): Promise<RunToken>;
}

export function openRun<T = unknown>(
  http: Http,
  record: RunRecord,
  output?: OutputSchema<T>,
): Run<T> {
  const { runId } = record;
  const path = `/runs/${runId}`;
  const post = <Data>(action: string, json: object, isRepeatable = true): Promise<Data> =>
    http.data<Data>({ method: 'POST', path: `${path}/${action}`, json, isRepeatable });

  const read = (options: CallOptions = {}) => http.data<RunDetails>({ path, ...options });

  async function result({ signal }: CallOptions = {}): Promise<RunResult<T>> {
    const isOver = async () => (await read({ signal })).finishedAt !== null;
    const hasEnded = record.finishedAt !== null;
    for await (const event of hasEnded ? [] : followRun({ http, runId, signal, isOver })) {
      if (event.type === 'finished') break;
    }
    const ended = resultOf(await read({ signal }));
    const structured =
      output === undefined ? ended.structured : await validateOutput(output, ended.structured);
    return { ...ended, structured: structured as T }; // without a validator T is unknown
  }

  return {
    runId,
    record,
    files: runFiles(http, runId),
    changes: runChanges(http, runId),
    events: (options = {}) => followRun({ ...options, http, runId }),
    log: (options) => readLog({ http, runId }, options),
    result,
    read,
    async answer(interaction, answers) {
      const { interactionId } = 'data' in interaction ? interaction.data : interaction;
      await post(`interactions/${interactionId}`, { answers });
    },
    setLabels: (labels) => http.data({ method: 'PATCH', path: `${path}/labels`, json: { labels } }),
    stop: (options = {}) => post('stop', options),
    interrupt: () => post('interrupt', {}, false),
    delete: () => http.remove({ path }, deletedRun(record)),
    async retry(options = {}) {
      const request = { ...runRequest(options), path: `${path}/retry` };
      return openRun(http, await http.data<RunRecord>(request));
    },
    createToken: (options = {}) => post('token', options),
  };
}

const deletedRun = (record: RunRecord): DeletedRun => {
  const { runId, flowId, projectId, labels, createdAt, status } = record;
  return { runId, flowId, projectId, labels, createdAt, status, deleted: true };
};
