import type { ReconcilerDeps } from '../deps.ts';
import { throttlePerRun } from '../throttle-per-run.ts';

/**
 * Signals the runs and sessions whose sandboxes were not started by hosts that stop, drain or are lost.
 * Their workflows claim slots on other hosts. A host counts as lost only while this worker may decide so.
 */
export function createUnstartedMover(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger, thresholds } = deps;
  const requestMove = throttlePerRun(deps, async (run) => {
    const { runId, requestId, hostId, generation, workflowId } = run;
    await temporal.signalHostLost(workflowId, { generation, ifUnstarted: true });
    logger.info({ runId, requestId, hostId, generation }, 'unstarted_sandbox_move_requested');
  });
  return async () => {
    const mayJudge = deps.renewedForMs() >= thresholds.hostWatchMs;
    const found = await reconcile.unstartedOnLeavingHosts({
      lostMs: mayJudge ? thresholds.hostLostMs : null,
      drainGraceMs: thresholds.unstartedMs,
      staleMs: thresholds.hostWatchMs,
    });
    await requestMove(found);
  };
}
