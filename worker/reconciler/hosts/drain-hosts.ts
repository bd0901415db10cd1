import type { ReconcilerDeps } from '../deps.ts';
import { throttlePerRun } from '../throttle-per-run.ts';

/**
 * Puts the idle sessions of a draining host, or of one that no longer offers them a model, to
 * sleep. Their next message starts them on another host. A session that has work by then ignores
 * the request.
 */
export function createHostDrainer(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger } = deps;
  return throttlePerRun(
    deps,
    (after) => reconcile.idleOnLeavingHosts(after),
    async ({ runId, requestId, hostId, workflowId }) => {
      await temporal.signalSleep(workflowId);
      logger.info({ runId, requestId, hostId }, 'session_drain_requested');
    },
  );
}
