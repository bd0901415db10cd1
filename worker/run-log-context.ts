import { withTimeout } from '../lib/async/timeout.ts';
import type { RunStore } from '../systems/postgres/runs/run-store.ts';

/** The log fields of a run of which only the id is known. Never rejects. */
export type RunLogContext = (runId: string) => Promise<{
  runId: string;
  /** Null for scheduled runs, and if the database does not answer in time. */
  requestId: string | null;
}>;

const waitMs = 1_000;

export function createRunLogContext(runs: Pick<RunStore, 'findRequestId'>): RunLogContext {
  return async (runId) => {
    const requestId = await withTimeout(waitMs, runs.findRequestId(runId)).catch(() => null);
    return { runId, requestId };
  };
}
