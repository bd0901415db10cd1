import type { Run } from '../../../core/runs/run.ts';
import type { PendingRestore } from '../../../systems/postgres/maintenance/reconcile-store.ts';
import type { ListedWorkflow } from '../../../systems/temporal/workflows-since.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { forceEndRun } from '../runs/force-end-run.ts';

/** Temporal lists what was started a moment ago a little later: it is asked again for so long. */
const listedWithinMs = 60_000;
const atOnce = 100;
/** The backup's time is Postgres's, a workflow's is Temporal's. */
const clocksApartMs = 600_000;

export interface RestoreReconciler {
  reconcile(): Promise<void>;
  /** False where it may have ended in the time that the database has lost: that is found out first. */
  isReconciled(run: Pick<Run, 'runId'>): boolean;
}

/**
 * The database came out of a backup, and Temporal knows of a time that it does not: sessions that have
 * ended meanwhile end here too, and runs that it has never heard of are put into it as ended, whatever
 * has become of them. What else there is to do was settled with the restoration itself, or is what is
 * done with every other run. Until it is settled nobody who may repeat a lost run is let in; a run
 * that is known is not lost, so what is unclear about one keeps nobody out: whoever repeats it finds it.
 */
export function createRestoreReconciler(deps: ReconcilerDeps): RestoreReconciler {
  const { reconcile, logger } = deps;
  let comparedFor: number | null | undefined;
  /** Of those that were compared, whose workflows could not be asked after. */
  let unverified: Run[] = [];

  async function compare(restoration: PendingRestore | null): Promise<void> {
    const time = restoration?.restoredAt.getTime() ?? null;
    if (time !== null && time !== comparedFor) {
      comparedFor = undefined;
      unverified = await endCompleted(deps);
    } else {
      unverified = await endClosed(deps, unverified);
    }
    comparedFor = time;
  }

  return {
    async reconcile() {
      const restoration = await reconcile.pendingRestore();
      await compare(restoration);
      if (restoration === null) return;
      const found = await reconcileUnknown(deps, restoration);
      if (found > 0) return;
      const settled = await reconcile.markRestoresReconciled(listedWithinMs);
      if (settled > 0) logger.info({ ...restoration }, 'restore_reconciled');
    },
    isReconciled: ({ runId }) =>
      comparedFor !== undefined && unverified.every((run) => run.runId !== runId),
  };
}

/** Returns those of which it could not be told. */
async function endCompleted(deps: ReconcilerDeps): Promise<Run[]> {
  const unclear: Run[] = [];
  let page: Run[] = [];
  do {
    page = await deps.reconcile.activeRuns(atOnce, page.at(-1)?.runId);
    unclear.push(...(await endClosed(deps, page)));
  } while (page.length === atOnce);
  return unclear;
}

const endClosed = (deps: ReconcilerDeps, runs: Run[]): Promise<Run[]> =>
  forEachRun(runs, deps.logger, async (run) => {
    if ((await deps.temporal.describe(run.workflowId)) === 'closed')
      await forceEndRun(deps, run, endedMeanwhile);
  });

const endedMeanwhile = {
  cause: 'max_reconnects_exceeded',
  detail: 'it ended after the backup that the database was restored from',
} as const;

/** Returns of how many there was something to do: then there may be more that are not listed yet. */
async function reconcileUnknown(
  deps: ReconcilerDeps,
  { dumpedAt }: PendingRestore,
): Promise<number> {
  const since = new Date(dumpedAt.getTime() - clocksApartMs);
  let found = 0;
  for await (const page of deps.temporal.workflowsSince(since)) {
    const ids = page.map(({ workflowId }) => workflowId);
    const unknown = new Set(await deps.reconcile.unknownWorkflows(ids));
    const lost = page.filter(({ workflowId }) => unknown.has(workflowId));
    found += (await terminateOpen(deps, lost)) + (await importRuns(deps, lost));
  }
  return found;
}

/** Before they are known: of one that is known, nobody would end the workflow any more. */
async function terminateOpen({ temporal, logger }: ReconcilerDeps, lost: ListedWorkflow[]) {
  const open = lost.filter(({ isOpen }) => isOpen);
  for (const { workflowId } of open) {
    await temporal.terminate(workflowId, 'its run is not in the backup that was restored');
    logger.warn({ workflowId }, 'orphan_workflow_terminated');
  }
  return open.length;
}

async function importRuns({ reconcile, logger }: ReconcilerDeps, lost: ListedWorkflow[]) {
  const runs = lost.map(({ run, ...workflow }) => ({ ...run, ...workflow }));
  const adopted = await reconcile.importRuns(runs);
  for (const runId of adopted)
    logger.warn({ runId, requestId: null }, 'run_imported_after_restore');
  return adopted.length;
}
