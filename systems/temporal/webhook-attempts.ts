import type { WorkflowExecutionDescription } from '@temporalio/client';

/** SCHEDULED in Temporal's enumeration PendingActivityState: waiting for the next attempt. */
const scheduled = 1;

/**
 * How many delivery attempts the workflow has made, or had made when it was terminated. The server
 * keeps the number. 0 without a pending delivery.
 */
export function webhookAttempts({ raw }: Pick<WorkflowExecutionDescription, 'raw'>): number {
  const delivery = raw.pendingActivities?.find(
    ({ activityType }) => activityType?.name === 'deliverWebhook',
  );
  if (delivery === undefined) return 0;
  const attempt = delivery.attempt ?? 1;
  return Number(delivery.state) === scheduled ? attempt - 1 : attempt;
}
