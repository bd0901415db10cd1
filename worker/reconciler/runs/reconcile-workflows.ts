import type { Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import type { RestoreReconciler } from '../restore/reconcile-restore.ts';
import { forceEndRun } from './force-end-run.ts';
import { createMissingWorkflows, type DescribedRun } from './missing-workflows.ts';

const atOnce = 100;

/**
 * Describes the workflow of each live run, one page per pass. An operator closed a workflow that is
 * closed while its run is live. Temporal has lost a workflow that is missing. Neither run is
 * started again.
 */
export function createWorkflowReconciler(
  deps: ReconcilerDeps,
  { isReconciled }: Pick<RestoreReconciler, 'isReconciled'>,
): () => Promise<void> {
  const missing = createMissingWorkflows(deps);
  let after: string | undefined;
  return async () => {
    if (after === undefined) missing.beginSweep();
    const page = await deps.reconcile.activeRuns(atOnce, after);
    after = page.length === atOnce ? page.at(-1)?.runId : undefined;
    const described = await describeAll(deps, page.filter(isReconciled));
    await endClosed(deps, described);
    await missing.endRuns(described);
    if (after === undefined) await missing.finishSweep();
  };
}

/** Without the runs whose workflows could not be described. The next sweep describes them again. */
async function describeAll(deps: ReconcilerDeps, runs: Run[]): Promise<DescribedRun[]> {
  const described: DescribedRun[] = [];
  await forEachRun(runs, deps.logger, async (run) => {
    const workflow = await deps.temporal.describe(run.workflowId);
    described.push({ run, workflow });
    if (workflow === 'running') await endOverdue(deps, run);
  });
  return described;
}

async function endClosed(deps: ReconcilerDeps, described: DescribedRun[]): Promise<void> {
  const closed = described.flatMap(({ run, workflow }) => (workflow === 'closed' ? [run] : []));
  await forEachRun(closed, deps.logger, (run) =>
    forceEndRun(deps, run, {
      cause: 'terminated_by_operator',
      detail: 'its workflow was closed in Temporal',
    }),
  );
}

/** A session has no time limit. Its turns have one. */
const hasLimit = ({ sessionId }: Run): boolean => sessionId === null;

/**
 * Its workflow enforces the limit unless it is broken. The stop is then sent as for every cause.
 */
async function endOverdue(deps: ReconcilerDeps, run: Run): Promise<void> {
  if (!hasLimit(run)) return;
  const from = (run.startedAt ?? run.createdAt).getTime();
  const due = from + run.timeoutSeconds * 1_000 + deps.thresholds.overdueMs;
  if (run.endCause !== null || deps.now().getTime() < due) return;
  // This host's clock may be ahead. Postgres decides.
  await deps.runs.recordOverdue(run.runId, deps.thresholds.overdueMs);
}
