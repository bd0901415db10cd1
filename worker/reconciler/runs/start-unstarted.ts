import { failpoint } from '../../../core/failpoint.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachInTurn } from '../for-each-run.ts';

/**
 * Starts the workflows of admitted runs that the API could not start, or could not mark as started.
 * A second start has no effect, and an ended workflow is not started again.
 */
export function createUnstartedStarter(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, runs, logger, thresholds } = deps;
  const forEachUnstarted = forEachInTurn((after) =>
    reconcile.unstarted(thresholds.unstartedMs, after),
  );

  return () =>
    forEachUnstarted({ logger }, async (run) => {
      const outcome = await temporal.startRun(run);
      failpoint('reconcile.started');
      await runs.markWorkflowStarted(run.runId);
      const { runId, requestId } = run;
      logger.info({ runId, requestId, outcome }, 'run_started_by_reconciler');
    });
}
