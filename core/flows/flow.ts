import { limits } from '../limits.ts';
import type { ChildRuns } from '../runs/child-runs.ts';
import type { McpServers } from '../runs/run-config.ts';
import type { Schedule } from './schedule.ts';

export type NetworkPolicy = 'limited' | 'open' | 'none';

/** The template of a run, without its secret values. */
export interface Flow {
  flowId: string;
  projectId: string;
  name: string;
  description: string | null;
  prompt: string | null;
  instructions: string | null;
  model: string | null;
  /** Models that its agents may call besides that of the run. */
  allowedModels: string[];
  disallowedTools: string[];
  mcpServerNames: string[];
  envNames: string[];
  image: string | null;
  resources: { memoryBytes: number; cpus: number };
  network: { policy: NetworkPolicy; allowedHosts: string[] };
  timeoutSeconds: number | null;
  /** Starts runs with the flow's prompt; null: none. */
  schedule: Schedule | null;
  /** When the schedule was paused; null: it is not paused. */
  schedulePausedAt: Date | null;
  /** Defaults for its runs; null: no limit. */
  limits: { maxTurns: number | null; maxBudgetUsd: number | null };
  /** For the model calls of all its runs in a month. Null: unlimited. */
  monthlyBudgetUsd: number | null;
  /** What its runs may start; null: nothing. */
  childRuns: ChildRuns | null;
  storage: { usedBytes: number };
  /** The only host that may run it; null: every host may. */
  runner: string | null;
  version: number;
  /** When the flow was archived; null: it is not archived. */
  archivedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** The fields of a flow that requests with a key use. */
export type FlowOutline = Pick<
  Flow,
  'flowId' | 'projectId' | 'model' | 'mcpServerNames' | 'childRuns' | 'timeoutSeconds' | 'limits'
>;

/** Defaults for fields that are not set. */
export const defaultFlow = {
  resources: { memoryBytes: limits.sandbox.memoryBytes, cpus: limits.sandbox.cpus },
  network: { policy: 'limited', allowedHosts: [] },
  limits: { maxTurns: null, maxBudgetUsd: null },
  prompt: null,
  schedule: null,
} satisfies Partial<Flow>;

/** Encrypted at rest; only the host that starts a sandbox decrypts them. */
export interface FlowSecrets {
  env: Record<string, string>;
  mcpServers: McpServers;
}

export const noSecrets: FlowSecrets = { env: {}, mcpServers: {} };
