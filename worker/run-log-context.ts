import type { RunLogContext } from '../activities/sanitize-errors.ts';
import { sleep } from '../lib/async/sleep.ts';
import type { RunStore } from '../systems/postgres/runs/run-store.ts';

const waitMs = 1_000;

export function createRunLogContext(runs: Pick<RunStore, 'findRequestId'>): RunLogContext {
  return async (runId) => {
    const known = new AbortController();
    const tooLate = sleep(waitMs, known.signal).then(() => null);
    const requestId = await Promise.race([runs.findRequestId(runId).catch(() => null), tooLate]);
    known.abort();
    return { runId, requestId };
  };
}
