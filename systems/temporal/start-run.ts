import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { Run } from '../../core/run.ts';
import { runQueue } from '../../core/task-queues.ts';
import type { RunInput } from '../../workflows/messages.ts';
import type { RunTimes } from '../../workflows/run-times.ts';

export interface RunStarter {
  client: Client;
  instance: string;
  /** What an operator has shortened or lengthened. */
  times: Partial<RunTimes>;
}

/** Safe to repeat: a running workflow is used, an ended one is never started again. */
export async function startRun(starter: RunStarter, run: Run): Promise<'started' | 'already'> {
  try {
    await starter.client.workflow.start('runWorkflow', {
      workflowId: run.workflowId,
      taskQueue: runQueue(starter.instance),
      args: [inputOf(starter, run)],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `${run.triggerType} run of flow ${run.flowId}`,
      staticDetails: staticDetails(run),
      typedSearchAttributes: searchAttributes(run),
    });
    return 'started';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already';
    throw error;
  }
}

function inputOf({ instance, times }: RunStarter, run: Run): RunInput {
  return {
    runId: run.runId,
    projectId: run.projectId,
    flowId: run.flowId,
    instance,
    hostId: run.hostId,
    generation: run.generation,
    times: { ...times, runMs: run.timeoutSeconds * 1_000 },
  };
}

/** The page of a run in Temporal's UI: ids, and how long the prompt is, never what it says. */
function staticDetails(run: Run): string {
  return [
    `**Run** \`${run.runId}\``,
    `**Flow** \`${run.flowId}\``,
    `**Project** \`${run.projectId}\``,
    `**Trigger** ${run.triggerType}`,
    `**Time limit** ${run.timeoutSeconds} s`,
    `**Prompt** ${Buffer.byteLength(run.prompt)} bytes`,
  ].join('  \n');
}

function searchAttributes(run: Run): SearchAttributePair[] {
  return Object.entries({
    ProjectId: run.projectId,
    FlowId: run.flowId,
    TriggerType: run.triggerType,
    RunStatus: run.status,
    HostId: run.hostId,
    SessionId: run.sessionId,
  }).flatMap(([name, value]) =>
    value === null ? [] : [{ key: defineSearchAttributeKey(name, 'KEYWORD'), value }],
  );
}
