import { limits } from '../../../core/limits.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { stepDeadline } from '../step-deadline.ts';
import { forceEndRun } from './force-end-run.ts';

/**
 * Sends the stop signal again to runs that have a cause but have not ended, because the signal may
 * have been lost. If the workflow is gone or does not end the run, the run is ended by force.
 */
export function createStopResender(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, logger, thresholds } = deps;
  let sentAt = new Map<string, number>();

  async function resend(run: Run): Promise<void> {
    const outcome = await deps.temporal.signalStop(run.workflowId, { graceMs });
    if (outcome === 'gone' && (await deps.temporal.describe(run.workflowId)) !== 'running')
      await forceEndRun(deps, run, unfinished);
    sentAt.set(run.runId, deps.now().getTime());
  }

  return async () => {
    const deadline = stepDeadline(1 / 2);
    const stuck = await reconcile.unfinishedStops(thresholds.stuckMs);
    await forEachRun(stuck, { logger, deadline }, (run) => endStuck(deps, run));
    const waiting = await reconcile.unfinishedStops(thresholds.resendAfterMs);
    sentAt = new Map(waiting.map(({ runId }) => [runId, sentAt.get(runId) ?? 0]));
    const due = deps.now().getTime() - thresholds.resendEveryMs;
    const unanswered = waiting.filter(
      (run) => run.workflowStartedAt !== null && (sentAt.get(run.runId) ?? 0) < due,
    );
    await forEachRun(unanswered, { logger }, resend);
  };
}

const graceMs = limits.run.stopGraceDefaultSeconds * 1_000;

async function endStuck(deps: ReconcilerDeps, run: Run): Promise<void> {
  await deps.temporal.terminate(run.workflowId, 'it could not end its run');
  await forceEndRun(deps, run, unfinished);
}

const unfinished = {
  cause: 'terminated_by_operator',
  detail: 'its workflow did not end it',
} as const;
