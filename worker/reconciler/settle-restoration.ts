import type { Run } from '../../core/run.ts';
import type { ReconcilerDeps } from './deps.ts';
import { eachRun } from './each-run.ts';
import { endLostRun } from './end-lost-run.ts';

/** Temporal lists what was started a moment ago a little later: it is asked again for so long. */
const listedWithinMs = 60_000;
const atOnce = 100;

/**
 * The database came out of a backup, and Temporal knows of a time that it does not: sessions that have
 * ended meanwhile end here too, and workflows of runs that it has never heard of are ended. What else
 * there is to do was settled with the restoration itself, or is what is done with every other run.
 */
export function createRestorationSettler(deps: ReconcilerDeps): () => Promise<void> {
  const { reconcile, logger } = deps;
  let comparedFor = 0;
  return async () => {
    const restoredAt = await reconcile.unsettledRestoration();
    if (restoredAt === null) return;
    if (comparedFor !== restoredAt.getTime()) await endWhatHasEnded(deps);
    comparedFor = restoredAt.getTime();
    if ((await endUnknown(deps)) > 0) return;
    await reconcile.settleRestorations(listedWithinMs);
    logger.info({ restoredAt }, 'restoration_compared');
  };
}

async function endWhatHasEnded(deps: ReconcilerDeps): Promise<void> {
  let page: Run[] = [];
  do {
    page = await deps.reconcile.liveRuns(atOnce, page.at(-1)?.runId);
    await eachRun(page, deps.logger, async (run) => {
      if ((await deps.temporal.describe(run.workflowId)) === 'closed')
        await endLostRun(deps, run, endedMeanwhile);
    });
  } while (page.length === atOnce);
}

const endedMeanwhile = {
  cause: 'max_reconnects_exceeded',
  detail: 'it ended after the backup that the database was restored from',
} as const;

async function endUnknown({ reconcile, temporal, logger }: ReconcilerDeps): Promise<number> {
  const unknown = await reconcile.unknownWorkflows(await temporal.openWorkflows());
  for (const workflowId of unknown) {
    await temporal.terminate(workflowId, 'its run is not in the backup that was restored');
    logger.warn({ workflowId }, 'unknown_workflow_ended');
  }
  return unknown.length;
}
