import type { PendingRestore } from '../../../systems/postgres/maintenance/reconcile-store.ts';
import type { ListedWorkflow } from '../../../systems/temporal/workflows-since.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { stepDeadline } from '../step-deadline.ts';

/** Temporal lists a new workflow with a delay, so it is queried again for this long. */
const listedWithinMs = 60_000;
/** The backup's time is Postgres's, a workflow's time is Temporal's. */
const clocksApartMs = 600_000;

export interface RestoreReconciler {
  reconcile(): Promise<void>;
  /** Whether a restore was pending when it was last reconciled. */
  isPending(): boolean;
}

/** One comparison of all listed workflows, which several passes make. */
interface Comparison {
  restore: PendingRestore;
  beganAt: number;
  /** The page that follows; null: the first one. */
  after: Uint8Array | null;
  /** How many workflows needed a change. */
  found: number;
}

/**
 * After a restore, Temporal has workflows of runs that the database lost. Inserts unknown runs as
 * ended, so that their idempotency keys are not reused. Until then requests that could repeat a
 * lost run are rejected. A known run is not lost, so it does not block requests: see end-closed.ts.
 */
export function createRestoreReconciler(deps: ReconcilerDeps): RestoreReconciler {
  const { reconcile, logger } = deps;
  let isPending = false;
  let comparison: Comparison | null = null;

  return {
    async reconcile() {
      const restore = await reconcile.pendingRestore();
      isPending = restore !== null;
      const current = restore === null ? null : continued(comparison, restore);
      // After an error all are compared again, because the server may no longer have the page.
      comparison = null;
      if (current === null || restore === null) return;
      if (!(await compare(deps, current))) {
        comparison = current;
        return;
      }
      // After a change, more may not be listed yet.
      if (current.found > 0) return;
      const elapsedMs = Math.ceil(performance.now() - current.beganAt);
      const reconciled = await reconcile.markRestoresReconciled(listedWithinMs + elapsedMs);
      if (reconciled > 0) logger.info({ ...restore }, 'restore_reconciled');
    },
    isPending: () => isPending,
  };
}

/** A later restore may have lost more, so all workflows are compared again. */
function continued(comparison: Comparison | null, restore: PendingRestore): Comparison {
  const isSame =
    comparison?.restore.restoredAt.getTime() === restore.restoredAt.getTime() &&
    comparison.restore.dumpedAt.getTime() === restore.dumpedAt.getTime();
  return isSame ? comparison : { restore, beganAt: performance.now(), after: null, found: 0 };
}

/** True after the last page. False if the time limit has excluded the others. */
async function compare(deps: ReconcilerDeps, comparison: Comparison): Promise<boolean> {
  const since = new Date(comparison.restore.dumpedAt.getTime() - clocksApartMs);
  const deadline = stepDeadline();
  do {
    const page = await deps.temporal.workflowsSince(since, comparison.after);
    const { found, isComplete } = await reconcileUnknown(deps, page.workflows);
    comparison.found += found;
    if (!isComplete) return false;
    comparison.after = page.next;
  } while (comparison.after !== null && !deadline.isOver());
  return comparison.after === null;
}

/**
 * Returns how many needed a change. A page that is incomplete is compared again. A workflow that
 * cannot be terminated does not prevent the import of the others.
 */
async function reconcileUnknown(
  deps: ReconcilerDeps,
  page: ListedWorkflow[],
): Promise<{ found: number; isComplete: boolean }> {
  const unknown = new Set(
    await deps.reconcile.unknownWorkflows(page.map(({ workflowId }) => workflowId)),
  );
  const lost = page.filter(({ workflowId }) => unknown.has(workflowId));
  const open = lost.filter(({ isOpen }) => isOpen);
  const { unended, isComplete } = await terminateAll(deps, open);
  const ended = lost.filter(({ workflowId }) => !unended.has(workflowId));
  const found = open.length + (await importRuns(deps, ended));
  return { found, isComplete };
}

/** Before their runs are imported: no later step ends the workflow of an imported run. */
async function terminateAll(
  { temporal, logger }: ReconcilerDeps,
  open: ListedWorkflow[],
): Promise<{ unended: Set<string>; isComplete: boolean }> {
  const workflows = open.map((each) => ({ ...each, runId: each.run.runId, requestId: null }));
  const { failed, left } = await forEachRun(workflows, { logger }, async ({ workflowId }) => {
    await temporal.terminate(workflowId, 'its run is missing from the restored backup');
    logger.warn({ workflowId }, 'orphan_workflow_terminated');
  });
  const unended = new Set([...failed, ...left].map(({ workflowId }) => workflowId));
  return { unended, isComplete: left.length === 0 };
}

async function importRuns({ reconcile, logger }: ReconcilerDeps, lost: ListedWorkflow[]) {
  const runs = lost.map(({ run, ...workflow }) => ({ ...run, ...workflow }));
  const adopted = await reconcile.importRuns(runs);
  for (const runId of adopted)
    logger.warn({ runId, requestId: null }, 'run_imported_after_restore');
  return adopted.length;
}
