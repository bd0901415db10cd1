import type { ReconcilerDeps } from './deps.ts';
import { eachRun } from './each-run.ts';
import { endLostRun } from './end-lost-run.ts';

/**
 * Ends the runs of hosts that have not been seen for long. While Postgres was away no host could
 * be seen; so after every gap in its own watch each host has the time to speak again.
 */
export function createHostJudge(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, logger, times } = deps;
  let watchingSince = deps.now().getTime();
  let lastLooked = watchingSince;
  return async () => {
    const now = deps.now().getTime();
    if (now - lastLooked > times.hostWatchMs / 2) watchingSince = now;
    if (now - watchingSince >= times.hostWatchMs) {
      await eachRun(await reconcile.runsOnLostHosts(times.hostLostMs), logger, (run) =>
        endLostRun(deps, run, { cause: 'max_reconnects_exceeded', detail: 'host lost' }),
      );
    }
    lastLooked = now;
  };
}
