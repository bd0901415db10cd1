import { sleep } from '../lib/async/sleep.ts';
import type { RunStore } from '../systems/postgres/runs/run-store.ts';

/** What a line of the log says of a run of which no more than its id is at hand. Never rejects. */
export type RunLogContext = (runId: string) => Promise<{
  runId: string;
  /** Null where a schedule asked for it, and where nobody could say in time. */
  requestId: string | null;
}>;

const waitMs = 1_000;

export function createRunLogContext(runs: Pick<RunStore, 'requestOf'>): RunLogContext {
  return async (runId) => {
    const known = new AbortController();
    const tooLate = sleep(waitMs, known.signal).then(() => null);
    const requestId = await Promise.race([runs.requestOf(runId).catch(() => null), tooLate]);
    known.abort();
    return { runId, requestId };
  };
}
