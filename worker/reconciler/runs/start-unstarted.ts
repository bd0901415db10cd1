import { failpoint } from '../../../core/failpoint.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';

/**
 * A run was admitted, and whoever was to start its workflow could not, or could not say so.
 * Starting twice is harmless; a workflow that has ended is not started again.
 */
export async function startUnstarted(deps: ReconcilerDeps): Promise<void> {
  const { reconcile, temporal, runs, logger, thresholds } = deps;
  await forEachRun(await reconcile.unstarted(thresholds.unstartedMs), logger, async (run) => {
    const outcome = await temporal.startRun(run);
    failpoint('reconcile.started');
    await runs.markWorkflowStarted(run.runId);
    const { runId, requestId } = run;
    logger.info({ runId, requestId, outcome }, 'run_started_by_reconciler');
  });
}
