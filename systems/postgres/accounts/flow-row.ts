import type { Flow, NetworkPolicy } from '../../../core/flows/flow.ts';
import type { ChildRuns } from '../../../core/runs/child-runs.ts';

export interface FlowRow {
  id: string;
  project_id: string;
  name: string;
  description: string | null;
  prompt: string | null;
  instructions: string | null;
  model: string | null;
  allowed_models: string[];
  disallowed_tools: string[];
  mcp_server_names: string[];
  env_names: string[];
  image: string | null;
  memory_bytes: number;
  cpus: number;
  network_policy: NetworkPolicy;
  allowed_hosts: string[];
  timeout_seconds: number | null;
  max_turns: number | null;
  max_budget_usd: number | null;
  monthly_budget_usd: number | null;
  child_runs: ChildRuns | null;
  runner: string | null;
  schedule_cron: string | null;
  schedule_timezone: string | null;
  schedule_paused_at: Date | null;
  storage_bytes: number;
  version: number;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

const columns: readonly (keyof FlowRow)[] = [
  'id',
  'project_id',
  'name',
  'description',
  'prompt',
  'instructions',
  'model',
  'allowed_models',
  'disallowed_tools',
  'mcp_server_names',
  'env_names',
  'image',
  'memory_bytes',
  'cpus',
  'network_policy',
  'allowed_hosts',
  'timeout_seconds',
  'max_turns',
  'max_budget_usd',
  'monthly_budget_usd',
  'child_runs',
  'runner',
  'schedule_cron',
  'schedule_timezone',
  'schedule_paused_at',
  'storage_bytes',
  'version',
  'archived_at',
  'created_at',
  'updated_at',
];

export const flowColumns = columns.join(', ');

/** Columns of `flows f` in a join, named with a prefix: all of them, or the given ones. */
export const joinedFlowColumns = (
  prefix: string,
  names: readonly (keyof FlowRow)[] = columns,
): string => names.map((name) => `f.${name} as "${prefix}${name}"`).join(', ');

export function toFlow(row: FlowRow): Flow {
  return {
    flowId: row.id,
    projectId: row.project_id,
    name: row.name,
    description: row.description,
    prompt: row.prompt,
    instructions: row.instructions,
    model: row.model,
    allowedModels: row.allowed_models,
    disallowedTools: row.disallowed_tools,
    mcpServerNames: row.mcp_server_names,
    envNames: row.env_names,
    image: row.image,
    resources: { memoryBytes: row.memory_bytes, cpus: row.cpus },
    network: { policy: row.network_policy, allowedHosts: row.allowed_hosts },
    timeoutSeconds: row.timeout_seconds,
    limits: { maxTurns: row.max_turns, maxBudgetUsd: row.max_budget_usd },
    monthlyBudgetUsd: row.monthly_budget_usd,
    childRuns: row.child_runs,
    storage: { usedBytes: row.storage_bytes },
    runner: row.runner,
    schedule: scheduleOf(row),
    schedulePausedAt: row.schedule_paused_at,
    version: row.version,
    archivedAt: row.archived_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function scheduleOf({
  schedule_cron: cron,
  schedule_timezone: timezone,
}: FlowRow): Flow['schedule'] {
  return cron === null || timezone === null ? null : { cron, timezone };
}
