import type { DeliverWebhookInput, RunActivities } from '../shared/activities.ts';

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
