import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { runQueue } from '../../core/temporal/task-queues.ts';
import type { DeliverEventInput } from '../../workflows/shared/activities.ts';
import type { EventInput } from '../../workflows/shared/inputs.ts';

type EventWorkflow = (input: EventInput) => Promise<{ delivered: boolean }>;

/** `delivered` or `dropped`: how the workflow has ended before. */
export type EventStart = 'started' | 'delivered' | 'dropped';

/** A workflow that was terminated or has failed starts again. */
export async function startEvent(
  { client, instance }: { client: Client; instance: string },
  { eventId, delivery }: DeliverEventInput,
): Promise<EventStart> {
  const workflowId = `event/${eventId}/${delivery + 1}`;
  const input: EventInput = { eventId, delivery, instance };
  try {
    await client.workflow.start('eventWorkflow', {
      workflowId,
      taskQueue: runQueue(instance),
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `event ${eventId}`,
    });
    return 'started';
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const ended = client.workflow.getHandle<EventWorkflow>(workflowId);
    return (await ended.result()).delivered ? 'delivered' : 'dropped';
  }
}
