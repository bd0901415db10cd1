import type { RunOutline } from '../../core/runs/run.ts';
import type { ReconcilerDeps } from './deps.ts';
import { forEachRun } from './for-each-run.ts';

/**
 * Sends to each run at most once per `resendEveryMs`. The first message may have been lost, or its
 * effect may take a while.
 */
export function throttlePerRun(
  { logger, now, thresholds }: Pick<ReconcilerDeps, 'logger' | 'now' | 'thresholds'>,
  send: (run: RunOutline) => Promise<void>,
): (runs: RunOutline[]) => Promise<void> {
  let lastSentAt = new Map<string, number>();
  return async (runs) => {
    lastSentAt = new Map(runs.map(({ runId }) => [runId, lastSentAt.get(runId) ?? 0]));
    const at = now().getTime();
    const due = runs.filter(
      ({ runId }) => (lastSentAt.get(runId) ?? 0) < at - thresholds.resendEveryMs,
    );
    await forEachRun(due, { logger }, async (run) => {
      await send(run);
      lastSentAt.set(run.runId, at);
    });
  };
}
