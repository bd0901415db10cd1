import type { LogEntries } from '../generated/types.ts';
import type { Http } from '../http/http.ts';

export type LogEntry = LogEntries['entries'][number];

export interface LogOptions {
  /** `output`: what a terminal shows. `chat`: the events of the agent. The default is `all`. */
  channel?: LogEntries['channel'];
  /** Yields only what follows this frame. The default is 0, the beginning of the run. */
  after?: number;
  /** Yields only what precedes this frame. */
  before?: number;
  signal?: AbortSignal | undefined;
}

/** Yields the stored frames of a run, oldest first, to the last one that is stored now. */
export async function* readLog(
  { http, runId }: { http: Http; runId: string },
  { channel = 'all', after = 0, before, signal }: LogOptions = {},
): AsyncGenerator<LogEntry, void, undefined> {
  let afterSeq = after;
  for (;;) {
    const query = { format: 'structured', channel, afterSeq, beforeSeq: before };
    const page = await http.data<LogEntries>({ path: `/runs/${runId}/logs`, query, signal });
    yield* page.entries;
    const last = page.entries.at(-1);
    if (last === undefined || page.complete) return;
    afterSeq = last.seq;
  }
}
