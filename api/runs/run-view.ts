import { costUsdOf } from '../../core/metering/call-cost.ts';
import { errorOf } from '../../core/runs/end-cause.ts';
import type { Run } from '../../core/runs/run.ts';
import type { RunRecord } from './run-schema.ts';

/** The run record for clients. `apiUrl` is the URL below which the client finds runs. */
export function runView(run: Omit<Run, 'prompt'>, apiUrl: string): RunRecord {
  return {
    runId: run.runId,
    flowId: run.flowId,
    projectId: run.projectId,
    name: run.name,
    labels: run.labels,
    status: run.status,
    agentStatus: run.agentStatus,
    triggerType: run.triggerType,
    createdAt: run.createdAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    finishedAt: run.endedAt?.toISOString() ?? null,
    sessionId: run.sessionId,
    streamUrl: streamUrl(run.runId, apiUrl),
    exitCode: run.exitCode,
    result: run.result,
    structuredOutput: parsed(run.structuredOutput),
    usage: run.usage,
    costUsd: costUsdOf(run.spending),
    numTurns: run.numTurns,
    createdBy: run.createdBy,
    webhook: run.webhook,
    mcpServerNames: run.mcpServerNames,
    retryOf: run.retryOf,
    ...ending(run),
    ...(run.offlineModel ? { offlineModel: true as const } : {}),
    flowVersion: run.flowVersion,
    parentRunId: run.ancestorIds.at(-1) ?? null,
    rootRunId: run.ancestorIds[0] ?? null,
    depth: run.ancestorIds.length,
  };
}

export function deletedRunView(run: Run) {
  return {
    runId: run.runId,
    flowId: run.flowId,
    projectId: run.projectId,
    labels: run.labels,
    createdAt: run.createdAt.toISOString(),
    status: run.status,
    deleted: true as const,
  };
}

export const streamUrl = (runId: string, apiUrl: string): string =>
  `${apiUrl}/runs/${runId}/stream`;

/** `error` after the end, `stopping` between the stop request and the end. */
function ending(run: Omit<Run, 'prompt'>): { error?: string; stopping?: true } {
  if (run.endCause === null) return {};
  if (run.endedAt === null) return { stopping: true };
  const error = errorOf({ cause: run.endCause, detail: run.endDetail, exitCode: run.exitCode });
  return error === null ? {} : { error };
}

/** Stored as the agent's JSON text. */
function parsed(json: string | null): RunRecord['structuredOutput'] {
  return json === null ? null : (JSON.parse(json) as RunRecord['structuredOutput']);
}
