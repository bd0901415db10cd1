import type { Flow, FlowSecrets } from '../../../core/flows/flow.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { SessionPlan } from '../../../core/sessions/session.ts';
import { findFlow, readFlowSecrets } from '../accounts/flow-store.ts';
import type { Db, Pool } from '../client/pool.ts';
import { findRun } from '../runs/find-run.ts';
import { readTriggerFields } from '../runs/trigger-fields.ts';
import { readSessionConfig } from '../sessions/session-config-store.ts';
import { readSessionPlan } from '../sessions/session-store.ts';
import { readConfig } from './run-config-store.ts';
import type { Sealer } from './seal.ts';

/** Everything a host needs to start a run's sandbox; contains secrets. */
export interface SandboxPlan {
  run: Run;
  flow: Flow;
  secrets: FlowSecrets;
  /** Null once a sandbox has acknowledged it. */
  config: RunConfig | null;
  /** JSON schema of the run's output, as text. */
  outputSchema: string | null;
  /** Null for a plain run. */
  session: SessionPlan | null;
}

export async function readSandboxPlan(
  pool: Pool,
  sealer: Sealer,
  runId: string,
): Promise<SandboxPlan | null> {
  const run = await findRun(pool, runId);
  if (run === null) return null;
  const [flow, secrets, config, { outputSchema }, session] = await Promise.all([
    findFlow(pool, run.flowId),
    readFlowSecrets(pool, sealer, run.flowId),
    run.sessionId === null ? readConfig(pool, sealer, run) : sessionConfigOf(pool, sealer, runId),
    readTriggerFields(pool, runId),
    readSessionPlan(pool, runId),
  ]);
  if (flow === null) throw new Error(`run ${runId} has no flow`);
  return { run, flow, secrets, config, outputSchema, session };
}

/** The configuration of a session is stored until the session ends. */
async function sessionConfigOf(db: Db, sealer: Sealer, runId: string): Promise<RunConfig | null> {
  const unlessAcknowledgedBy = 2 ** 31 - 1;
  const session = await readSessionConfig(db, sealer, { runId, unlessAcknowledgedBy });
  return session?.config ?? null;
}
