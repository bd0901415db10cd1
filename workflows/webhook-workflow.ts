import { CancellationScope } from '@temporalio/workflow';
import { runActivities } from './bind-activities.ts';
import { deliverWebhook } from './deliver-webhook.ts';
import type { WebhookInput } from './messages.ts';
import { runTimes } from './run-times.ts';

/** Delivers a run's webhook where the run's own workflow is gone. */
export async function webhookWorkflow(input: WebhookInput): Promise<{ delivered: boolean }> {
  const work = runActivities(input.instance, runTimes);
  return CancellationScope.nonCancellable(async () => ({
    delivered: await deliverWebhook(work, input),
  }));
}
