import { CancellationScope } from '@temporalio/workflow';
import type { RunActivities } from '../shared/activities.ts';
import type { StopRequest } from '../shared/stop-request.ts';
import { noCapacity, type RunOutcome, stoppedBeforeStart } from './run-outcomes.ts';

/**
 * Asks for a place until there is one, the waiting is over, or somebody wants the run to end. The
 * asking is the activity's retry, so that a long wait leaves no trail in the history.
 */
export async function waitForSlot(
  work: RunActivities,
  runId: string,
  orders: Promise<StopRequest>,
): Promise<{ hostId: string } | RunOutcome> {
  const asking = new CancellationScope();
  const place = asking.run(() => work.claimSlot({ runId })).catch(() => noCapacity);
  const first = await Promise.race([place, orders.then(stoppedBeforeStart)]);
  asking.cancel();
  return first;
}
