import type { RunOutline } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { throttlePerKey } from '../throttle-per-key.ts';

/**
 * Finds runs and sessions whose sandbox was not started by a host that is stopped, draining or
 * lost, and signals their workflows to claim a slot on another host. Hosts are judged lost only by
 * a worker whose own heartbeat has had no gap, see lost-hosts.ts.
 */
export function createUnstartedMover(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger, thresholds } = deps;
  function findUnstarted(after?: string): Promise<RunOutline[]> {
    const mayDeclareLost = deps.renewedForMs() >= thresholds.hostWatchMs;
    const times = {
      lostMs: mayDeclareLost ? thresholds.hostLostMs : null,
      drainGraceMs: thresholds.unstartedMs,
      staleMs: thresholds.hostWatchMs,
    };
    return reconcile.unstartedOnLeavingHosts(times, after);
  }

  return throttlePerKey(deps, {
    readPage: findUnstarted,
    async send({ runId, requestId, hostId, generation, workflowId }) {
      await temporal.signalHostLost(workflowId, { generation, ifUnstarted: true });
      logger.info({ runId, requestId, hostId, generation }, 'unstarted_sandbox_move_requested');
    },
  });
}
