import type { WorkflowExecutionDescription } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

/**
 * How many delivery attempts the workflow has made, or had made when it was terminated, as its
 * activity reported. 0 without a pending delivery.
 */
export function webhookAttempts({ raw }: Pick<WorkflowExecutionDescription, 'raw'>): number {
  const delivery = raw.pendingActivities?.find(
    ({ activityType }) => activityType?.name === 'deliverWebhook',
  );
  const details = delivery?.heartbeatDetails?.payloads?.[0];
  if (!details) return 0;
  return defaultPayloadConverter.fromPayload<{ made: number }>(details).made;
}
