import { CancellationScope } from '@temporalio/workflow';
import type { RunActivities } from '../shared/activities.ts';
import type { StopRequest } from '../shared/stop-request.ts';
import { noCapacity, type RunOutcome, stoppedBeforeStart } from './run-outcomes.ts';

/**
 * Waits for a slot, the timeout, or a stop request. Polling is the activity's retry, so a long wait
 * does not make the history longer.
 */
export async function waitForSlot(
  activities: RunActivities,
  runId: string,
  stopRequested: Promise<StopRequest>,
): Promise<{ hostId: string } | RunOutcome> {
  const polling = new CancellationScope();
  const slot = polling.run(() => activities.claimSlot({ runId })).catch(() => noCapacity);
  const first = await Promise.race([slot, stopRequested.then(stoppedBeforeStart)]);
  polling.cancel();
  return first;
}
