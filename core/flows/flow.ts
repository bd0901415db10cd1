import { limits } from '../limits.ts';
import type { McpServers } from '../runs/run-config.ts';
import type { Schedule } from './schedule.ts';

export type NetworkPolicy = 'limited' | 'open' | 'none';

/** What a run is made from, without the values that nobody may read back. */
export interface Flow {
  flowId: string;
  projectId: string;
  name: string;
  description: string | null;
  prompt: string | null;
  instructions: string | null;
  model: string | null;
  disallowedTools: string[];
  mcpServerNames: string[];
  envNames: string[];
  image: string | null;
  resources: { memoryBytes: number; cpus: number };
  network: { policy: NetworkPolicy; allowedHosts: string[] };
  timeoutSeconds: number | null;
  /** When it runs by itself, with its own prompt; null: never. */
  schedule: Schedule | null;
  /** What its runs get unless the request says otherwise; null: no limit. */
  limits: { maxTurns: number | null; maxBudgetUsd: number | null };
  storage: { usedBytes: number };
  /** The only host that may run it; null: every host may. */
  runner: string | null;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** What a flow has where its owner says nothing. */
export const defaultFlow = {
  resources: { memoryBytes: limits.sandboxMemoryBytes, cpus: limits.sandboxCpus },
  network: { policy: 'limited', allowedHosts: [] },
  limits: { maxTurns: null, maxBudgetUsd: null },
  prompt: null,
  schedule: null,
} satisfies Partial<Flow>;

/** Sealed at rest, read by the host that starts a sandbox and by nobody else. */
export interface FlowSecrets {
  env: Record<string, string>;
  mcpServers: McpServers;
}
