import type { Client } from '@temporalio/client';
import { noEndCause } from '../../core/temporal/search-attribute-names.ts';
import { runQueue } from '../../core/temporal/task-queues.ts';
import { isUnknownAttribute } from './search-attributes.ts';

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
 * One page of this instance's run and session workflows that closed after `since` and before their
 * runs had ended, the last one first. Temporal lists a workflow with a delay, so the list may show
 * a workflow that runs again after a reset.
 */
export async function closedWorkflows(
  { client, instance }: { client: Client; instance: string },
  { since, after, pageSize = defaultPageSize }: ClosedWorkflowsRequest,
): Promise<ClosedWorkflowsPage> {
  const list = (conditions: string[]) =>
    client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query: conditions.join(' and '),
      pageSize,
      nextPageToken: after,
    });
  const closed = [
    `TaskQueue = '${runQueue(instance)}'`,
    `WorkflowType in ('runWorkflow', 'sessionWorkflow')`,
    `ExecutionStatus in ('Terminated', 'Failed', 'TimedOut', 'Canceled')`,
    `CloseTime >= '${since.toISOString()}'`,
  ];
  const { executions, nextPageToken } = await list([...closed, withoutEnd]).catch((error) => {
    if (isUnknownAttribute(error)) return list(closed);
    throw error;
  });
  const workflowIds = executions.flatMap(({ execution }) => execution?.workflowId ?? []);
  return { workflowIds, next: nextPageToken.length === 0 ? null : nextPageToken };
}

/** A workflow writes the attribute after its run has ended. A server may lack it. */
const withoutEnd = `(EndCause is null or EndCause = '${noEndCause}')`;
