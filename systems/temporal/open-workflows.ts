import type { Client } from '@temporalio/client';
import { runQueue } from '../../core/temporal/task-queues.ts';

/** The ids of this instance's open run and session workflows. */
export async function openWorkflows({
  client,
  instance,
}: {
  client: Client;
  instance: string;
}): Promise<string[]> {
  const query = [
    `TaskQueue = '${runQueue(instance)}'`,
    `ExecutionStatus = 'Running'`,
    `WorkflowType in ('runWorkflow', 'sessionWorkflow')`,
  ].join(' and ');
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
  return ids;
}
