import type { ReconcilerDeps } from '../deps.ts';
import { throttlePerRun } from '../throttle-per-run.ts';

/**
 * Finds runs and sessions whose sandbox was not started by a host that is stopped, draining or
 * lost, and signals their workflows to claim a slot on another host. Hosts are judged lost only by
 * a worker whose own heartbeat has had no gap, see lost-hosts.ts.
 */
export function createUnstartedMover(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger, thresholds } = deps;
  const requestMove = throttlePerRun(deps, async (run) => {
    const { runId, requestId, hostId, generation, workflowId } = run;
    await temporal.signalHostLost(workflowId, { generation, ifUnstarted: true });
    logger.info({ runId, requestId, hostId, generation }, 'unstarted_sandbox_move_requested');
  });
  return async () => {
    const mayDeclareLost = deps.renewedForMs() >= thresholds.hostWatchMs;
    const found = await reconcile.unstartedOnLeavingHosts({
      lostMs: mayDeclareLost ? thresholds.hostLostMs : null,
      drainGraceMs: thresholds.unstartedMs,
      staleMs: thresholds.hostWatchMs,
    });
    await requestMove(found);
  };
}
