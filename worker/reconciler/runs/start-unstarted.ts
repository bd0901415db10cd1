import { failpoint } from '../../../core/failpoint.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';

/**
 * Starts the workflows of admitted runs that the API could not start, or could not mark as started.
 * A second start has no effect, and an ended workflow is not started again.
 */
export async function startUnstarted(deps: ReconcilerDeps): Promise<void> {
  const { reconcile, temporal, runs, logger, thresholds } = deps;
  await forEachRun(await reconcile.unstarted(thresholds.unstartedMs), deps, async (run) => {
    const outcome = await temporal.startRun(run);
    failpoint('reconcile.started');
    await runs.markWorkflowStarted(run.runId);
    const { runId, requestId } = run;
    logger.info({ runId, requestId, outcome }, 'run_started_by_reconciler');
  });
}
