import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { runQueue } from '../../core/temporal/task-queues.ts';
import { type MemoRun, runOfMemo } from '../../core/temporal/workflow-memo.ts';

export interface ListedWorkflow {
  workflowId: string;
  isOpen: boolean;
  startedAt: Date;
  /** Null as long as it is open. */
  closedAt: Date | null;
  /** Null where its start has not said it. */
  run: MemoRun | null;
}

/** Temporal answers few such questions in a second: each asks for much. */
const listedAtOnce = 500;

/**
 * Page by page, this instance's workflows that stand for a run or a session: those that were started
 * since then, whatever became of them, and all that are open. Where a history began anew, the last counts.
 */
export async function* workflowsSince(
  { client, instance }: { client: Client; instance: string },
  since: Date,
  pageSize = listedAtOnce,
): AsyncGenerator<ListedWorkflow[]> {
  const query = [
    `TaskQueue = '${runQueue(instance)}'`,
    `WorkflowType in ('runWorkflow', 'sessionWorkflow')`,
    `ExecutionStatus != 'ContinuedAsNew'`,
    `(ExecutionStatus = 'Running' or StartTime >= '${since.toISOString()}')`,
  ].join(' and ');
  let page: ListedWorkflow[] = [];
  for await (const info of client.workflow.list({ query, pageSize })) {
    page.push(seen(info));
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  yield page;
}

function seen({ workflowId, status, startTime, closeTime, memo }: WorkflowExecutionInfo) {
  return {
    workflowId,
    isOpen: status.name === 'RUNNING',
    startedAt: startTime,
    closedAt: closeTime ?? null,
    run: runOfMemo(memo),
  };
}
