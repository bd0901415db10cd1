import type { Client } from '@temporalio/client';
import { runQueue } from '../../core/temporal/task-queues.ts';

export interface ClosedWorkflowsPage {
  workflowIds: string[];
  /** Null after the last page. */
  next: Uint8Array | null;
}

interface ClosedWorkflowsRequest {
  since: Date;
  /** `next` of the page before; null for the first page. */
  after: Uint8Array | null;
  pageSize?: number;
}

/** Large pages, because Temporal rate-limits listing. */
const defaultPageSize = 1_000;

/**
 * One page of this instance's run and session workflows that were closed since then and have not
 * completed, the last one first. Temporal lists a workflow with a delay, so the list may show a
 * workflow that runs again after a reset.
 */
export async function closedWorkflows(
  { client, instance }: { client: Client; instance: string },
  { since, after, pageSize = defaultPageSize }: ClosedWorkflowsRequest,
): Promise<ClosedWorkflowsPage> {
  const query = [
    `TaskQueue = '${runQueue(instance)}'`,
    `WorkflowType in ('runWorkflow', 'sessionWorkflow')`,
    `ExecutionStatus in ('Terminated', 'Failed', 'TimedOut', 'Canceled')`,
    `CloseTime >= '${since.toISOString()}'`,
  ].join(' and ');
  const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query,
    pageSize,
    nextPageToken: after,
  });
  const workflowIds = executions.flatMap(({ execution }) => execution?.workflowId ?? []);
  return { workflowIds, next: nextPageToken.length === 0 ? null : nextPageToken };
}
