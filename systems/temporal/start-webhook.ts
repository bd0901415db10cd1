import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { runQueue } from '../../core/temporal/task-queues.ts';
import type { DeliverWebhookInput } from '../../workflows/shared/activities.ts';
import type { WebhookInput } from '../../workflows/shared/inputs.ts';

/** A failed workflow may start again: the database counts the attempts, not the workflow. */
export async function startWebhook(
  { client, instance }: { client: Client; instance: string },
  { runId, firstAttempt, delivery }: DeliverWebhookInput,
): Promise<'started' | 'already'> {
  const redelivery = delivery === undefined ? {} : { delivery };
  const input: WebhookInput = { runId, firstAttempt, instance, ...redelivery };
  try {
    await client.workflow.start('webhookWorkflow', {
      workflowId: `webhook/${runId}/${(delivery ?? 0) + 1}`,
      taskQueue: runQueue(instance),
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `webhook of run ${runId}`,
    });
    return 'started';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already';
    throw error;
  }
}
