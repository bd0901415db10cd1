import { CancellationScope } from '@temporalio/workflow';
import { runActivities } from '../shared/activity-proxies.ts';
import type { WebhookInput } from '../shared/inputs.ts';
import { runTimeouts } from '../shared/run-timeouts.ts';
import { deliverOrDrop } from './deliver-or-drop.ts';

/**
 * Delivers a run's webhook after the run's workflow has closed, or again for an operator. An outage
 * can cause many of these at once, so they use the slots of projects with a backlog.
 */
export async function webhookWorkflow({
  instance,
  ...delivery
}: WebhookInput): Promise<{ delivered: boolean }> {
  const activities = runActivities(instance, runTimeouts, { inBacklog: true });
  return CancellationScope.nonCancellable(async () => ({
    delivered: await deliverOrDrop(activities, delivery),
  }));
}
