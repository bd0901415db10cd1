import type { Run } from '../../../core/runs/run.ts';
import type { PendingRestore } from '../../../systems/postgres/maintenance/reconcile-store.ts';
import type { ListedWorkflow } from '../../../systems/temporal/workflows-since.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { endRunsIfClosed } from '../runs/end-closed.ts';
import type { ForcedEnd } from '../runs/force-end-run.ts';

/** Temporal lists a new workflow with a delay, so it is queried again for this long. */
const listedWithinMs = 60_000;
const atOnce = 100;
/** The backup's time is Postgres's, a workflow's time is Temporal's. */
const clocksApartMs = 600_000;

export interface RestoreReconciler {
  reconcile(): Promise<void>;
  /** False if the run may have ended in the time that the database has lost. */
  isReconciled(run: Pick<Run, 'runId'>): boolean;
}

/**
 * After a restore, Temporal has workflows of runs that the database lost. Ends sessions that
 * Temporal has completed, and inserts unknown runs as ended, so that their idempotency keys are not
 * reused. Until then requests that could repeat a lost run are rejected. A known run is not lost,
 * so an unverified one does not block requests.
 */
export function createRestoreReconciler(deps: ReconcilerDeps): RestoreReconciler {
  const { reconcile, logger } = deps;
  let comparedFor: number | null | undefined;
  /** Runs whose workflows could not be described. */
  let unverified: Run[] = [];

  async function compare(restoration: PendingRestore | null): Promise<void> {
    const time = restoration?.restoredAt.getTime() ?? null;
    if (time !== null && time !== comparedFor) {
      comparedFor = undefined;
      unverified = await endCompleted(deps);
    } else {
      unverified = await endRunsIfClosed(deps, unverified, endedMeanwhile);
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
      const reconciled = await reconcile.markRestoresReconciled(listedWithinMs);
      if (reconciled > 0) logger.info({ ...restoration }, 'restore_reconciled');
    },
    isReconciled: ({ runId }) =>
      comparedFor !== undefined && unverified.every((run) => run.runId !== runId),
  };
}

/** Returns the runs whose workflows could not be described. */
async function endCompleted(deps: ReconcilerDeps): Promise<Run[]> {
  const unclear: Run[] = [];
  let page: Run[] = [];
  do {
    page = await deps.reconcile.activeRuns(atOnce, page.at(-1)?.runId);
    unclear.push(...(await endRunsIfClosed(deps, page, endedMeanwhile)));
  } while (page.length === atOnce);
  return unclear;
}

const endedMeanwhile: ForcedEnd = {
  cause: 'max_reconnects_exceeded',
  detail: 'it ended after the restored backup was made',
};

/** Returns how many needed a change. After a change, more may not be listed yet. */
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

/** Before their runs are imported: no later step ends the workflow of an imported run. */
async function terminateOpen({ temporal, logger }: ReconcilerDeps, lost: ListedWorkflow[]) {
  const open = lost.filter(({ isOpen }) => isOpen);
  for (const { workflowId } of open) {
    await temporal.terminate(workflowId, 'its run is missing from the restored backup');
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
