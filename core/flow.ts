import type { McpServers } from './run-config.ts';

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
  /** The only host that may run it; null: any. */
  runner: string | null;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Sealed at rest, read by the host that starts a sandbox and by nobody else. */
export interface FlowSecrets {
  env: Record<string, string>;
  mcpServers: McpServers;
}
