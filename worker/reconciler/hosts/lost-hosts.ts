import type { ReconcilerDeps } from '../deps.ts';
import { forEachInTurn } from '../for-each-run.ts';
import { forceEndRun } from '../runs/force-end-run.ts';
import { stepDeadline } from '../step-deadline.ts';
import { throttlePerKey } from '../throttle-per-key.ts';

/**
 * Whether this worker may declare hosts lost. While Postgres was unavailable, no host could send a
 * heartbeat. So only a worker whose own heartbeat has had no gap decides, and after a gap every
 * host has time to send one. A worker that has not verified Temporal's identity decides nothing.
 */
export const mayJudgeHosts = ({ temporal, renewedForMs, thresholds }: ReconcilerDeps): boolean =>
  temporal.wasVerified() && renewedForMs() >= thresholds.hostWatchMs;

/**
 * Ends the runs of lost hosts, and signals their sessions to continue on other hosts. Runs that
 * were not started move, see move-unstarted.ts.
 */
export function createLostHostHandler(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, temporal, logger, thresholds } = deps;
  const forEachLost = forEachInTurn((after) =>
    reconcile.runsOnLostHosts(thresholds.hostLostMs, after),
  );
  const signalSessions = throttlePerKey(deps, {
    readPage: (after) => reconcile.sessionsOnLostHosts(thresholds.hostLostMs, after),
    async send({ runId, requestId, hostId, generation, workflowId }) {
      await temporal.signalHostLost(workflowId, { generation });
      logger.warn({ runId, requestId, hostId, generation }, 'session_host_loss_signalled');
    },
  });

  return async () => {
    const deadline = stepDeadline(1 / 2);
    await forEachLost({ logger, deadline }, (run) =>
      forceEndRun(deps, run, { cause: 'max_reconnects_exceeded', detail: 'host lost' }),
    );
    await signalSessions();
  };
}
