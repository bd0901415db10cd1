import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { runQueue } from '../../core/temporal/task-queues.ts';
import type { DeliverEventInput } from '../../workflows/shared/activities.ts';
import type { EventInput } from '../../workflows/shared/inputs.ts';

/** `already`: the workflow has ended. One that was terminated or has failed starts again. */
export async function startEvent(
  { client, instance }: { client: Client; instance: string },
  { eventId, delivery }: DeliverEventInput,
): Promise<'started' | 'already'> {
  const input: EventInput = { eventId, delivery, instance };
  try {
    await client.workflow.start('eventWorkflow', {
      workflowId: `event/${eventId}/${delivery + 1}`,
      taskQueue: runQueue(instance),
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `event ${eventId}`,
    });
    return 'started';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already';
    throw error;
  }
}
