import type { Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import type { RestoreReconciler } from '../restore/reconcile-restore.ts';
import { forceEndRun } from './force-end-run.ts';

const atOnce = 100;

/**
 * Describes the workflow of each live run, one page per pass. An operator closed a workflow that is closed
 * while its run is live. Temporal has lost a workflow that is missing. Neither run is started again.
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
        detail: 'its workflow was closed in Temporal',
      });
    case 'missing':
      return forceEndRun(deps, run, {
        cause: 'max_reconnects_exceeded',
        detail: 'Temporal has lost its workflow',
      });
  }
}

/** A session has no time limit. Its turns have one. */
const hasLimit = ({ sessionId }: Run): boolean => sessionId === null;

/** Its workflow enforces the limit unless it is broken. The stop is then sent as for every cause. */
async function endOverdue(deps: ReconcilerDeps, run: Run): Promise<void> {
  if (!hasLimit(run)) return;
  const from = (run.startedAt ?? run.createdAt).getTime();
  const due = from + run.timeoutSeconds * 1_000 + deps.thresholds.overdueMs;
  if (run.endCause !== null || deps.now().getTime() < due) return;
  await deps.runs.recordCause({ runId: run.runId, cause: 'timed_out', detail: null });
}
