import type { Flow, FlowSecrets } from '../../core/flow.ts';
import type { Run } from '../../core/run.ts';
import type { RunConfig } from '../../core/run-config.ts';
import { readConfig } from './config-store.ts';
import { findRun } from './find-run.ts';
import { findFlow, readFlowSecrets } from './flow-store.ts';
import type { Pool } from './pool.ts';
import type { Sealer } from './seal.ts';

/** All that a host needs to start a run's sandbox; holds secrets. */
export interface SandboxPlan {
  run: Run;
  flow: Flow;
  secrets: FlowSecrets;
  /** Null once a sandbox has acknowledged it. */
  config: RunConfig | null;
}

export async function readSandboxPlan(
  pool: Pool,
  sealer: Sealer,
  runId: string,
): Promise<SandboxPlan | null> {
  const run = await findRun(pool, runId);
  if (run === null) return null;
  const [flow, secrets, config] = await Promise.all([
    findFlow(pool, run.flowId),
    readFlowSecrets(pool, sealer, run.flowId),
    readConfig(pool, sealer, runId),
  ]);
  if (flow === null) throw new Error(`run ${runId} has no flow`);
  return { run, flow, secrets, config };
}
