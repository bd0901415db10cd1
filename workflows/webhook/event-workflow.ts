import { CancellationScope } from '@temporalio/workflow';
import { runActivities } from '../shared/activity-proxies.ts';
import type { EventInput } from '../shared/inputs.ts';
import { runTimeouts } from '../shared/run-timeouts.ts';

/** Delivers an event to an endpoint, and abandons it after four failed attempts. */
export async function eventWorkflow({
  instance,
  ...event
}: EventInput): Promise<{ delivered: boolean }> {
  const activities = runActivities(instance, runTimeouts);
  return CancellationScope.nonCancellable(async () => {
    try {
      await activities.deliverEvent(event);
      return { delivered: true };
    } catch {
      await activities.dropEvent({ eventId: event.eventId });
      return { delivered: false };
    }
  });
}
