import type { WorkflowExecutionDescription } from '@temporalio/client';

/** Of Temporal's enumeration PendingActivityState: it waits for its next attempt. */
const scheduled = 1;

/**
 * How many attempts at its webhook a workflow was making when it was asked after, or terminated: the
 * server keeps that. 0 where it made none, or is done with them.
 */
export function webhookAttempts({ raw }: Pick<WorkflowExecutionDescription, 'raw'>): number {
  const delivery = raw.pendingActivities?.find(
    ({ activityType }) => activityType?.name === 'deliverWebhook',
  );
  if (delivery === undefined) return 0;
  const attempt = delivery.attempt ?? 1;
  return Number(delivery.state) === scheduled ? attempt - 1 : attempt;
}
