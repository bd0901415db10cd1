import { randomUUID } from 'node:crypto';
import { noUsage, type Run } from '../../core/runs/run.ts';

/** A run row in its state right after admission. */
export function admittedRun(run: Partial<Run> = {}): Run {
  const { runId = randomUUID() } = run;
  return {
    runId,
    flowId: randomUUID(),
    projectId: 'project-1',
    name: null,
    labels: {},
    status: 'running',
    agentStatus: null,
    triggerType: 'api',
    prompt: 'Go',
    partialMessages: false,
    timeoutSeconds: 60,
    model: null,
    maxTurns: null,
    maxBudgetUsd: null,
    retryOf: null,
    secretFields: [],
    requestId: null,
    sessionId: null,
    holdsSlot: false,
    createdAt: new Date(),
    startedAt: null,
    endedAt: null,
    deletedAt: null,
    endCause: null,
    endDetail: null,
    exitCode: null,
    result: null,
    structuredOutput: null,
    usage: noUsage,
    spending: { calls: 0, cost: null },
    numTurns: 0,
    createdBy: { keyName: 'ci', createdBy: 'ana' },
    webhook: { state: 'none', attempts: 0, lastStatus: null },
    mcpServerNames: [],
    hostId: 'host-1',
    generation: 1,
    workflowId: `run/${runId}`,
    workflowStartedAt: null,
    lastSeq: 0,
    ...run,
  };
}
