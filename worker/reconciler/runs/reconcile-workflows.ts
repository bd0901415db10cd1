import { limits } from '../../../core/limits.ts';
import type { RunOutline } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import type { RestoreReconciler } from '../restore/reconcile-restore.ts';
import { stepDeadline } from '../step-deadline.ts';
import { endClosedRun } from './end-closed.ts';
import { createMissingWorkflows, type DescribedRun } from './missing-workflows.ts';

/**
 * Describes the workflow of each live run, one page per pass; after a restore as many pages as the
 * time limit permits, because many runs may have ended. An operator closed a workflow that is
 * closed while its run is live. Temporal has lost a workflow that is missing. Neither run is
 * started again.
 */
export function createWorkflowReconciler(
  deps: ReconcilerDeps,
  { isPending }: Pick<RestoreReconciler, 'isPending'>,
): () => Promise<void> {
  const missing = createMissingWorkflows(deps);
  const { describedPerPass } = limits.reconciler;
  let after: string | undefined;

  async function reconcilePage(): Promise<void> {
    if (after === undefined) missing.beginSweep();
    const page = await deps.reconcile.activeRuns(describedPerPass, after);
    const { described, left } = await describeAll(deps, page);
    const last = left === undefined ? page.at(-1) : page[page.indexOf(left) - 1];
    const isLastPage = left === undefined && page.length < describedPerPass;
    after = isLastPage ? undefined : (last?.runId ?? after);
    await missing.endRuns(described);
    if (isLastPage) await missing.finishSweep();
  }

  return async () => {
    const deadline = stepDeadline(1 / 2);
    do await reconcilePage();
    while (isPending() && after !== undefined && !deadline.isOver());
  };
}

interface DescribedPage {
  /**
   * Without the runs whose workflows could not be described. The next sweep describes them again.
   */
  described: DescribedRun[];
  /** The first run that the time limit has excluded. The next pass begins with it. */
  left: RunOutline | undefined;
}

/** Leaves most of the time for the runs of the page whose workflows are missing. */
async function describeAll(deps: ReconcilerDeps, runs: RunOutline[]): Promise<DescribedPage> {
  const described: DescribedRun[] = [];
  const deadline = stepDeadline(1 / 4);
  const { left } = await forEachRun(runs, { logger: deps.logger, deadline }, async (run) => {
    const workflow = await deps.temporal.describe(run.workflowId);
    described.push({ run, workflow });
    if (workflow === 'running') await endOverdue(deps, run);
    if (workflow === 'closed') await endClosedRun(deps, run);
  });
  return { described, left: left[0] };
}

/** A session has no time limit. Its turns have one. */
const hasLimit = ({ sessionId }: RunOutline): boolean => sessionId === null;

/**
 * Its workflow enforces the limit unless it is broken. The stop is then sent as for every cause.
 */
async function endOverdue(deps: ReconcilerDeps, run: RunOutline): Promise<void> {
  if (!hasLimit(run)) return;
  const from = (run.startedAt ?? run.createdAt).getTime();
  const due = from + run.timeoutSeconds * 1_000 + deps.thresholds.overdueMs;
  if (run.endCause !== null || deps.now().getTime() < due) return;
  // This host's clock may be ahead. Postgres decides.
  await deps.runs.recordOverdue(run.runId, deps.thresholds.overdueMs);
}
