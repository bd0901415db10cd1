import { sandboxKey } from '../../sandbox/sandbox-key.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { throttlePerKey } from '../throttle-per-key.ts';

/**
 * Puts the idle sessions of a draining host, or of one that no longer offers them a model, to
 * sleep. Their next message starts them on another host. A session with background work, which
 * would end with its sandbox, is not idle: it sleeps at its own timeout at the latest. A session
 * that has work by the time of the request ignores it. New frames allow another request at once.
 */
export function createHostDrainer(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger } = deps;
  return throttlePerKey(deps, {
    readPage: (after) => reconcile.idleOnLeavingHosts(after),
    keyOf: (run) => `${sandboxKey(run)}/${run.lastSeq}`,
    async send({ runId, requestId, hostId, workflowId }) {
      await temporal.signalSleep(workflowId);
      logger.info({ runId, requestId, hostId }, 'session_drain_requested');
    },
  });
}
