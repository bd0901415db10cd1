import { limits } from '../../../core/limits.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { eachRun } from '../for-each-run.ts';
import { endLostRun } from './force-end-run.ts';

/**
 * A cause was recorded and the end has not come: the signal may have been lost, so it is sent
 * again, now and then; where nobody is left to hear it, or nothing comes of it, the run is ended
 * from here.
 */
export function createNudger(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, logger, times } = deps;
  let nudgedAt = new Map<string, number>();

  async function nudge(run: Run): Promise<void> {
    const outcome = await deps.temporal.signalStop(run.workflowId, { graceMs });
    if (outcome === 'gone') await endLostRun(deps, run, workflowsDoing);
    nudgedAt.set(run.runId, deps.now().getTime());
  }

  return async () => {
    await eachRun(await reconcile.causesWithoutEnd(times.stuckMs), logger, (run) =>
      endStuck(deps, run),
    );
    const waiting = await reconcile.causesWithoutEnd(times.nudgeMs);
    nudgedAt = new Map(waiting.map(({ runId }) => [runId, nudgedAt.get(runId) ?? 0]));
    const due = deps.now().getTime() - times.nudgeAgainMs;
    const silent = waiting.filter(
      (run) => run.workflowStartedAt !== null && (nudgedAt.get(run.runId) ?? 0) < due,
    );
    await eachRun(silent, logger, nudge);
  };
}

const graceMs = limits.stopGraceDefaultSeconds * 1_000;

async function endStuck(deps: ReconcilerDeps, run: Run): Promise<void> {
  await deps.temporal.terminate(run.workflowId, 'it could not end its run');
  await endLostRun(deps, run, workflowsDoing);
}

const workflowsDoing = {
  cause: 'terminated_by_operator',
  detail: 'its workflow did not end it',
} as const;
