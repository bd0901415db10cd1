import type { ReconcilerDeps } from '../deps.ts';
import { eachRun } from '../for-each-run.ts';
import { endLostRun } from '../runs/force-end-run.ts';
import { nowAndThen } from '../throttle-per-run.ts';

/**
 * Ends the runs of hosts that have not been seen for long, and tells their sessions to go on elsewhere.
 * While Postgres was away no host could be seen; so it judges who was heard all the while himself, and
 * after every gap each host has the time to speak again.
 */
export function createHostJudge(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger, times } = deps;
  const tellSessions = nowAndThen(deps, async (run) => {
    const { runId, requestId, hostId, generation, workflowId } = run;
    await temporal.signalHostLost(workflowId, { generation });
    logger.warn({ runId, requestId, hostId, generation }, 'session_told_of_lost_host');
  });

  return async () => {
    if (deps.heardForMs() < times.hostWatchMs) return;
    await eachRun(await reconcile.runsOnLostHosts(times.hostLostMs), logger, (run) =>
      endLostRun(deps, run, { cause: 'max_reconnects_exceeded', detail: 'host lost' }),
    );
    await tellSessions(await reconcile.sessionsOnLostHosts(times.hostLostMs));
  };
}
