import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { runQueue } from '../../core/temporal/task-queues.ts';
import type { WebhookInput } from '../../workflows/shared/signals.ts';

export interface WebhookStart {
  runId: string;
  /** The number of the next attempt; a delivery has four in all, whoever makes them. */
  firstAttempt: number;
  /** Of those that an operator asked for, which; absent for the one that the run owes. */
  delivery?: number;
}

/** One that was itself cut off may start again: the database counts the attempts, not the workflow. */
export async function startWebhook(
  { client, instance }: { client: Client; instance: string },
  { runId, firstAttempt, delivery }: WebhookStart,
): Promise<'started' | 'already'> {
  const which = delivery === undefined ? {} : { delivery };
  const input: WebhookInput = { runId, firstAttempt, instance, ...which };
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
