import type { Flow } from '../../core/flows/flow.ts';
import { limits } from '../../core/limits.ts';
import type { FlowRecord } from './flow-schema.ts';

export function flowView(flow: Flow): FlowRecord {
  return {
    flowId: flow.flowId,
    projectId: flow.projectId,
    name: flow.name,
    description: flow.description,
    prompt: flow.prompt,
    instructions: flow.instructions,
    model: flow.model,
    allowedModels: flow.allowedModels,
    mcpServerNames: flow.mcpServerNames,
    envNames: flow.envNames,
    disallowedTools: flow.disallowedTools,
    runner: flow.runner,
    image: flow.image,
    resources: flow.resources,
    network: flow.network,
    timeoutSeconds: flow.timeoutSeconds,
    schedule: flow.schedule,
    schedulePausedAt: flow.schedulePausedAt?.toISOString() ?? null,
    limits: flow.limits,
    monthlyBudgetUsd: flow.monthlyBudgetUsd,
    childRuns: flow.childRuns,
    storage: { usedBytes: flow.storage.usedBytes, limitBytes: limits.flow.storageBytes },
    version: flow.version,
    archivedAt: flow.archivedAt?.toISOString() ?? null,
    createdAt: flow.createdAt.toISOString(),
    updatedAt: flow.updatedAt.toISOString(),
  };
}
