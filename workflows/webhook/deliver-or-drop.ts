import type { DeliverWebhookInput, RunActivities } from '../shared/activities.ts';
import { runActivities } from '../shared/activity-proxies.ts';
import type { RunTimeouts } from '../shared/run-timeouts.ts';

interface EndedRun {
  runId: string;
  instance: string;
  timeouts: RunTimeouts;
}

/** Delivers the webhook of a run or session in the workflow that has ended it. */
export function deliverAtEnd(
  { runId, instance, timeouts }: EndedRun,
  hasWebhookBacklog = false,
): Promise<boolean> {
  const activities = runActivities(instance, timeouts, { inBacklog: hasWebhookBacklog });
  return deliverOrDrop(activities, { runId, firstAttempt: 1 });
}

/** Abandons the webhook after four failed attempts. A failed delivery never fails the run. */
export async function deliverOrDrop(
  activities: RunActivities,
  input: DeliverWebhookInput,
): Promise<boolean> {
  try {
    await activities.deliverWebhook(input);
    return true;
  } catch {
    await activities.dropWebhook({ runId: input.runId });
    return false;
  }
}
