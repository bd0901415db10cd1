import type { RunActivities, WebhookAttempt } from '../shared/activities.ts';

/** Four attempts, then the webhook is given up. A run never fails for its receiver's sake. */
export async function deliverWebhook(
  work: RunActivities,
  attempt: WebhookAttempt,
): Promise<boolean> {
  try {
    await work.deliverWebhook(attempt);
    return true;
  } catch {
    await work.dropWebhook({ runId: attempt.runId });
    return false;
  }
}
