import { CancellationScope } from '@temporalio/workflow';
import type { HostSlot, RunActivities } from '../shared/activities.ts';
import type { StopRequest } from '../shared/stop-request.ts';
import { type FinalOutcome, noCapacity, stoppedBeforeStart } from './run-outcomes.ts';

/**
 * Waits for a slot for the sandbox after number `after`, the timeout, or a stop request. Polling is
 * the activity's retry, so a long wait does not make the history longer.
 */
export async function waitForSlot(
  activities: RunActivities,
  sandbox: { runId: string; after: number },
  stopRequested: Promise<StopRequest>,
): Promise<HostSlot | FinalOutcome> {
  const polling = new CancellationScope();
  const slot = polling.run(() => activities.claimSlot(sandbox)).catch(() => noCapacity);
  const first = await Promise.race([slot, stopRequested.then(stoppedBeforeStart)]);
  polling.cancel();
  return first;
}
