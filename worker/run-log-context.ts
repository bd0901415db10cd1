import type { RunLogContext } from '../activities/sanitize-errors.ts';
import { withTimeout } from '../lib/async/timeout.ts';
import type { RunStore } from '../systems/postgres/runs/run-store.ts';

const waitMs = 1_000;

export function createRunLogContext(runs: Pick<RunStore, 'findRequestId'>): RunLogContext {
  return async (runId) => {
    const requestId = await withTimeout(waitMs, runs.findRequestId(runId)).catch(() => null);
    return { runId, requestId };
  };
}
