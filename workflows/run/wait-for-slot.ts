import { CancellationScope } from '@temporalio/workflow';
import type { RunActivities } from '../shared/activities.ts';
import type { Order } from '../shared/stop-request.ts';
import { type Ending, noCapacity, orderedBeforeStart } from './run-outcomes.ts';

/**
 * Asks for a place until there is one, the waiting is over, or somebody wants the run to end. The
 * asking is the activity's retry, so that a long wait leaves no trail in the history.
 */
export async function takePlace(
  work: RunActivities,
  runId: string,
  orders: Promise<Order>,
): Promise<{ hostId: string } | Ending> {
  const asking = new CancellationScope();
  const place = asking.run(() => work.claimPlace({ runId })).catch(() => noCapacity);
  const first = await Promise.race([place, orders.then(orderedBeforeStart)]);
  asking.cancel();
  return first;
}
