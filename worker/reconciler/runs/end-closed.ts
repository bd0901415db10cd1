import type { RunOutline } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { type ForcedEnd, forceEndRun } from './force-end-run.ts';

/**
 * Describes the workflows of the runs, and ends the runs whose workflows are closed. Returns the
 * runs that have to be described again, because that failed or the time limit has excluded them.
 */
export async function endRunsIfClosed(
  deps: ReconcilerDeps,
  runs: RunOutline[],
): Promise<RunOutline[]> {
  const { failed, left } = await forEachRun(runs, deps, async (run) => {
    if ((await deps.temporal.describe(run.workflowId)) === 'closed') await endClosedRun(deps, run);
  });
  return [...failed, ...left];
}

/** Ends an active run whose workflow is closed. */
export const endClosedRun = async (deps: ReconcilerDeps, run: RunOutline): Promise<void> =>
  forceEndRun(deps, run, await whyClosed(deps, run));

/**
 * A workflow that was closed before the database was restored may have ended its run in the time
 * that the database has lost.
 */
async function whyClosed(
  { reconcile, temporal }: ReconcilerDeps,
  { workflowId }: RunOutline,
): Promise<ForcedEnd> {
  const restoredAt = await reconcile.lastRestoredAt();
  if (restoredAt === null) return workflowClosed;
  const closedAt = await temporal.closedAt(workflowId);
  return closedAt !== null && closedAt <= restoredAt ? endedMeanwhile : workflowClosed;
}

/** An operator has closed the workflow, or it has failed. */
const workflowClosed: ForcedEnd = {
  cause: 'terminated_by_operator',
  detail: 'its workflow was closed in Temporal',
};

const endedMeanwhile: ForcedEnd = {
  cause: 'max_reconnects_exceeded',
  detail: 'it ended after the restored backup was made',
};
