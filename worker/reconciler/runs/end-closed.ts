import type { Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { forceEndRun } from './force-end-run.ts';

/** An operator has closed the workflow, or it has failed. */
export const endClosedRun = (deps: ReconcilerDeps, run: Run): Promise<void> =>
  forceEndRun(deps, run, {
    cause: 'terminated_by_operator',
    detail: 'its workflow was closed in Temporal',
  });

/**
 * Describes the workflows of the runs, and ends the runs whose workflows are closed. Returns
 * whether all workflows were described.
 */
export async function endRunsIfClosed(deps: ReconcilerDeps, runs: Run[]): Promise<boolean> {
  const { failed, left } = await forEachRun(runs, deps.logger, async (run) => {
    if ((await deps.temporal.describe(run.workflowId)) === 'closed') await endClosedRun(deps, run);
  });
  return failed.length + left.length === 0;
}
