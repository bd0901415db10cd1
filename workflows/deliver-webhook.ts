import type { RunActivities, WebhookAttempt } from './activities.ts';

/** Four attempts, then the webhook is given up. A run never fails for its receiver's sake. */
export async function deliverWebhook(
  work: RunActivities,
  { runId, firstAttempt }: WebhookAttempt,
): Promise<boolean> {
  try {
    await work.deliverWebhook({ runId, firstAttempt });
    return true;
  } catch {
    await work.dropWebhook({ runId });
    return false;
  }
}
