import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { forceEndRun } from '../runs/force-end-run.ts';
import { throttlePerRun } from '../throttle-per-run.ts';

/**
 * Ends the runs of hosts that have not been seen for long, and tells their sessions to go on elsewhere.
 * While Postgres was away no host could be seen; so it judges who was heard all the while himself, and
 * after every gap each host has the time to speak again.
 */
export function createLostHostHandler(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger, thresholds } = deps;
  const signalSessions = throttlePerRun(deps, async (run) => {
    const { runId, requestId, hostId, generation, workflowId } = run;
    await temporal.signalHostLost(workflowId, { generation });
    logger.warn({ runId, requestId, hostId, generation }, 'session_host_loss_signalled');
  });

  return async () => {
    if (deps.renewedForMs() < thresholds.hostWatchMs) return;
    await forEachRun(await reconcile.runsOnLostHosts(thresholds.hostLostMs), logger, (run) =>
      forceEndRun(deps, run, { cause: 'max_reconnects_exceeded', detail: 'host lost' }),
    );
    await signalSessions(await reconcile.sessionsOnLostHosts(thresholds.hostLostMs));
  };
}
