import type { Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import type { RestoreReconciler } from '../restore/reconcile-restore.ts';
import { forceEndRun } from './force-end-run.ts';

const atOnce = 100;

/**
 * Goes through the live runs, some at every pass, and asks Temporal after each one's workflow. One
 * that was closed without ending its run was ended by an operator; one that Temporal does not know
 * was lost with Temporal's own memory. Neither starts again.
 */
export function createWorkflowReconciler(
  deps: ReconcilerDeps,
  { isReconciled }: Pick<RestoreReconciler, 'isReconciled'>,
): () => Promise<void> {
  let after: string | undefined;
  return async () => {
    const page = await deps.reconcile.activeRuns(atOnce, after);
    after = page.length === atOnce ? page.at(-1)?.runId : undefined;
    await forEachRun(page.filter(isReconciled), deps.logger, (run) => reconcile(deps, run));
  };
}

async function reconcile(deps: ReconcilerDeps, run: Run): Promise<void> {
  switch (await deps.temporal.describe(run.workflowId)) {
    case 'running':
      return endOverdue(deps, run);
    case 'closed':
      return forceEndRun(deps, run, {
        cause: 'terminated_by_operator',
        detail: 'its workflow was ended',
      });
    case 'missing':
      return forceEndRun(deps, run, {
        cause: 'max_reconnects_exceeded',
        detail: 'its workflow was lost',
      });
  }
}

/** A session lives for as long as somebody speaks to it; its turns have their own limit. */
const hasLimit = ({ sessionId }: Run): boolean => sessionId === null;

/** Its workflow watches the limit; a broken one does not. What follows is nudged like every end. */
async function endOverdue(deps: ReconcilerDeps, run: Run): Promise<void> {
  if (!hasLimit(run)) return;
  const from = (run.startedAt ?? run.createdAt).getTime();
  const due = from + run.timeoutSeconds * 1_000 + deps.thresholds.overdueMs;
  if (run.endCause !== null || deps.now().getTime() < due) return;
  await deps.runs.recordCause({ runId: run.runId, cause: 'timed_out', detail: null });
}
