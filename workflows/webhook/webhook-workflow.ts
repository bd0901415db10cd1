import { CancellationScope } from '@temporalio/workflow';
import { runActivities } from '../shared/activity-proxies.ts';
import { runTimeouts } from '../shared/run-timeouts.ts';
import type { WebhookInput } from '../shared/signals.ts';
import { deliverWebhook } from './deliver-webhook.ts';

/** Delivers a run's webhook where the run's own workflow is gone, or where an operator wants it again. */
export async function webhookWorkflow({
  instance,
  ...attempt
}: WebhookInput): Promise<{ delivered: boolean }> {
  const work = runActivities(instance, runTimeouts, attempt.firstAttempt);
  return CancellationScope.nonCancellable(async () => ({
    delivered: await deliverWebhook(work, attempt),
  }));
}
