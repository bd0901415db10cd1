import type { Run } from '../../core/run.ts';
import type { ReconcilerDeps } from './deps.ts';
import { eachRun } from './each-run.ts';
import { endLostRun } from './end-lost-run.ts';

/** Temporal lists what was started a moment ago a little later: it is asked again for so long. */
const listedWithinMs = 60_000;
const atOnce = 100;

export interface RestorationSettler {
  settle(): Promise<void>;
  /** False where it may have ended in the time that the database has lost: that is found out first. */
  isCompared(run: Pick<Run, 'runId'>): boolean;
}

/**
 * The database came out of a backup, and Temporal knows of a time that it does not: sessions that have
 * ended meanwhile end here too, and workflows of runs that it has never heard of are ended. What else
 * there is to do was settled with the restoration itself, or is what is done with every other run.
 */
export function createRestorationSettler(deps: ReconcilerDeps): RestorationSettler {
  const { reconcile, logger } = deps;
  let comparedFor: number | null | undefined;
  /** Of those that were compared, whose workflows could not be asked after. */
  let unclear: Run[] = [];

  async function compare(restoredAt: Date | null): Promise<void> {
    const time = restoredAt?.getTime() ?? null;
    if (time !== comparedFor) {
      comparedFor = undefined;
      unclear = time === null ? [] : await endWhatHasEnded(deps);
      comparedFor = time;
    } else {
      unclear = await endClosed(deps, unclear);
    }
  }

  return {
    async settle() {
      const restoredAt = await reconcile.unsettledRestoration();
      await compare(restoredAt);
      if (restoredAt === null || (await endUnknown(deps)) > 0 || unclear.length > 0) return;
      await reconcile.settleRestorations(listedWithinMs);
      logger.info({ restoredAt }, 'restoration_compared');
    },
    isCompared: ({ runId }) =>
      comparedFor !== undefined && unclear.every((run) => run.runId !== runId),
  };
}

/** Returns those of which it could not be told. */
async function endWhatHasEnded(deps: ReconcilerDeps): Promise<Run[]> {
  const unclear: Run[] = [];
  let page: Run[] = [];
  do {
    page = await deps.reconcile.liveRuns(atOnce, page.at(-1)?.runId);
    unclear.push(...(await endClosed(deps, page)));
  } while (page.length === atOnce);
  return unclear;
}

const endClosed = (deps: ReconcilerDeps, runs: Run[]): Promise<Run[]> =>
  eachRun(runs, deps.logger, async (run) => {
    if ((await deps.temporal.describe(run.workflowId)) === 'closed')
      await endLostRun(deps, run, endedMeanwhile);
  });

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
