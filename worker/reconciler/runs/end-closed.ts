import type { Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { type ForcedEnd, forceEndRun } from './force-end-run.ts';

/** An operator has closed the workflow, or it has failed. */
export const workflowClosed: ForcedEnd = {
  cause: 'terminated_by_operator',
  detail: 'its workflow was closed in Temporal',
};

/**
 * Describes the workflows of the runs, and ends the runs whose workflows are closed. Returns the
 * runs that have to be described again, because that failed or the time limit has excluded them.
 */
export async function endRunsIfClosed(
  deps: ReconcilerDeps,
  runs: Run[],
  why: ForcedEnd,
): Promise<Run[]> {
  const { failed, left } = await forEachRun(runs, deps.logger, async (run) => {
    if ((await deps.temporal.describe(run.workflowId)) === 'closed')
      await forceEndRun(deps, run, why);
  });
  return [...failed, ...left];
}
