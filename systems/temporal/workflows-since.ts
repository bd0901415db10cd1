import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
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

/** Large pages, because Temporal rate-limits listing. */
const defaultPageSize = 500;

/**
 * Lists this instance's run and session workflows that are open or were started since then, page by
 * page. Of a workflow that continued as new, only the latest history is listed.
 */
export async function* workflowsSince(
  { client, instance }: { client: Client; instance: string },
  since: Date,
  pageSize = defaultPageSize,
): AsyncGenerator<ListedWorkflow[]> {
  const query = [
    `TaskQueue = '${runQueue(instance)}'`,
    `WorkflowType in ('runWorkflow', 'sessionWorkflow')`,
    `ExecutionStatus != 'ContinuedAsNew'`,
    `(ExecutionStatus = 'Running' or StartTime >= '${since.toISOString()}')`,
  ].join(' and ');
  let page: ListedWorkflow[] = [];
  for await (const info of client.workflow.list({ query, pageSize })) {
    page.push(toListed(info));
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  yield page;
}

function toListed({ workflowId, status, startTime, closeTime, memo }: WorkflowExecutionInfo) {
  return {
    workflowId,
    isOpen: status.name === 'RUNNING',
    startedAt: startTime,
    closedAt: closeTime ?? null,
    run: runOfMemo(memo),
  };
}
