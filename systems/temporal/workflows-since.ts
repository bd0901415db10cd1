import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { optionalTsToDate, requiredTsToDate } from '@temporalio/common/lib/time.js';
import { runQueue } from '../../core/temporal/task-queues.ts';
import { type MemoRun, runOfMemo } from '../../core/temporal/workflow-memo.ts';

export interface ListedWorkflow {
  workflowId: string;
  isOpen: boolean;
  startedAt: Date;
  /** Null while the workflow is open. */
  closedAt: Date | null;
  run: MemoRun;
}

export interface WorkflowsSincePage {
  workflows: ListedWorkflow[];
  /** Null after the last page. */
  next: Uint8Array | null;
}

interface WorkflowsSinceRequest {
  since: Date;
  /** `next` of the page before; null for the first page. */
  after: Uint8Array | null;
  pageSize?: number;
}

/** Large pages, because Temporal rate-limits listing. */
const defaultPageSize = 500;

/**
 * One page of this instance's run and session workflows that are open or were started since then.
 * Of a workflow that continued as new, only the latest history is listed.
 */
export async function workflowsSince(
  { client, instance }: { client: Client; instance: string },
  { since, after, pageSize = defaultPageSize }: WorkflowsSinceRequest,
): Promise<WorkflowsSincePage> {
  const query = [
    `TaskQueue = '${runQueue(instance)}'`,
    `WorkflowType in ('runWorkflow', 'sessionWorkflow')`,
    `ExecutionStatus != 'ContinuedAsNew'`,
    `(ExecutionStatus = 'Running' or StartTime >= '${since.toISOString()}')`,
  ].join(' and ');
  const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query,
    pageSize,
    nextPageToken: after,
  });
  const next = nextPageToken.length === 0 ? null : nextPageToken;
  return { workflows: executions.map(toListed), next };
}

type Listing = Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>;

function toListed({ execution, startTime, closeTime, memo }: Listing['executions'][number]) {
  const closedAt = optionalTsToDate(closeTime) ?? null;
  const fields = Object.entries(memo?.fields ?? {}).map(([name, payload]): [string, unknown] => [
    name,
    defaultPayloadConverter.fromPayload<unknown>(payload),
  ]);
  return {
    workflowId: execution?.workflowId ?? '',
    isOpen: closedAt === null,
    startedAt: requiredTsToDate(startTime, 'startTime'),
    closedAt,
    run: runOfMemo(Object.fromEntries(fields)),
  };
}
