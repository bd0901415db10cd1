import type { ReconcilerDeps } from '../deps.ts';
import { throttlePerRun } from '../throttle-per-run.ts';

/**
 * A host that takes nothing new is left by those of its sessions that have nothing to do: they are put
 * to sleep, and wake up elsewhere at their next message. One that has something to do by then goes on.
 */
export function createHostDrainer(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger } = deps;
  const requestSleep = throttlePerRun(deps, async ({ runId, requestId, hostId, workflowId }) => {
    await temporal.signalSleep(workflowId);
    logger.info({ runId, requestId, hostId }, 'session_drained');
  });
  return async () => requestSleep(await reconcile.idleOnDrainingHosts());
}
