// Describing the workflow of every open session takes minutes if there are thousands. Temporal's
// list finds the few that closed before their runs had ended, in one request per pass. The list is
// delayed and may be incomplete, so each run is ended only after its workflow was described, and
// the sweep of reconcile-workflows.ts finds what the list lacks.

import { limits } from '../../../core/limits.ts';
import type { ClosedWorkflowsPage } from '../../../systems/temporal/closed-workflows.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { stepDeadline } from '../step-deadline.ts';
import { endRunsIfClosed } from './end-closed.ts';

/** Ends active runs whose workflows were closed since the last pass without ending them. */
export function createClosedWorkflowFinder(deps: ReconcilerDeps): () => Promise<void> {
  const { closedSinceMs, closedOverlapMs } = limits.reconciler;
  /** All workflows that were closed before have been compared. */
  let comparedUntil = 0;

  return async () => {
    const startedAt = deps.now().getTime();
    const from = Math.max(comparedUntil, startedAt - closedSinceMs);
    const since = new Date(from - closedOverlapMs);
    const deadline = stepDeadline();
    let isComplete = true;
    let next: Uint8Array | null = null;
    do {
      const page: ClosedWorkflowsPage = await deps.temporal.closedWorkflows(since, next);
      isComplete = (await endRunsOf(page.workflowIds)) && isComplete;
      next = page.next;
    } while (next !== null && !deadline.isOver());
    if (isComplete && next === null) comparedUntil = startedAt;
  };

  async function endRunsOf(workflowIds: string[]): Promise<boolean> {
    if (workflowIds.length === 0) return true;
    const active = await deps.reconcile.activeRunsOf(workflowIds);
    return (await endRunsIfClosed(deps, active)).length === 0;
  }
}
