import { limits } from '../../../core/limits.ts';
import type { RunOutline } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachInTurn } from '../for-each-run.ts';
import { stepDeadline } from '../step-deadline.ts';
import { forceEndRun } from './force-end-run.ts';

/**
 * Sends the stop signal again to runs that have a cause but have not ended, because the signal may
 * have been lost. If the workflow is gone or does not end the run, the run is ended by force.
 */
export function createStopResender(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, logger, thresholds } = deps;
  const sentAt = new Map<string, number>();
  const forEachStuck = forEachInTurn((after) =>
    reconcile.unfinishedStops(thresholds.stuckMs, after),
  );
  const forEachWaiting = forEachInTurn((after) =>
    reconcile.unfinishedStops(thresholds.resendAfterMs, after),
  );

  async function resend(run: RunOutline): Promise<void> {
    const outcome = await deps.temporal.stopRun(run, { graceMs });
    if (outcome === 'gone' && (await deps.temporal.describe(run.workflowId)) !== 'running')
      await forceEndRun(deps, run, unfinished);
    sentAt.set(run.runId, deps.now().getTime());
  }

  return async () => {
    const deadline = stepDeadline(1 / 2);
    await forEachStuck({ logger, deadline }, (run) => endStuck(deps, run));
    const due = deps.now().getTime() - thresholds.resendEveryMs;
    for (const [runId, at] of sentAt) if (at < due) sentAt.delete(runId);
    await forEachWaiting({ logger }, async (run) => {
      if (run.workflowStartedAt !== null && !sentAt.has(run.runId)) await resend(run);
    });
  };
}

const graceMs = limits.run.stopGraceDefaultSeconds * 1_000;

async function endStuck(deps: ReconcilerDeps, run: RunOutline): Promise<void> {
  await deps.temporal.terminate(run.workflowId, 'it could not end its run');
  await forceEndRun(deps, run, unfinished);
}

const unfinished = {
  cause: 'terminated_by_operator',
  detail: 'its workflow did not end it',
} as const;
