import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { Db, Pool } from '../client/pool.ts';
import type { Sealer } from './seal.ts';

export type RunConfigStore = ReturnType<typeof createRunConfigStore>;

export function createRunConfigStore(pool: Pool, sealer: Sealer) {
  return {
    /** Null once it was acknowledged, and once the run has ended. */
    read: (runId: string): Promise<RunConfig | null> => readConfig(pool, sealer, runId),
    /** Deletes the configuration. Safe to repeat. */
    acknowledge: (runId: string): Promise<void> => deleteConfig(pool, runId),
    /** The values of the request's `X-Ctx-*` headers; stored with the run, for operators. */
    context: (runId: string): Promise<Context> => readContext(pool, sealer, runId),
  };
}

export function sealConfig(sealer: Sealer, runId: string, config: RunConfig): Buffer {
  return sealer.seal(JSON.stringify(config), contextOf(runId));
}

export async function readConfig(db: Db, sealer: Sealer, runId: string): Promise<RunConfig | null> {
  const text = 'select sealed from run_configs where run_id = $1';
  const { rows } = await db.query<{ sealed: Buffer }>(text, [runId]);
  const sealed = rows[0]?.sealed;
  // The seal proves that this text was written by sealConfig.
  return sealed ? (JSON.parse(sealer.open(sealed, contextOf(runId))) as RunConfig) : null;
}

async function deleteConfig(db: Db, runId: string): Promise<void> {
  await db.query('delete from run_configs where run_id = $1', [runId]);
}

type Context = RunConfig['context'];

/** Null if the context is empty. */
export function sealContext(sealer: Sealer, runId: string, context: Context): Buffer | null {
  if (Object.keys(context).length === 0) return null;
  return sealer.seal(JSON.stringify(context), `run-context:${runId}`);
}

async function readContext(db: Db, sealer: Sealer, runId: string): Promise<Context> {
  const text = 'select context_sealed as sealed from runs where id = $1';
  const { rows } = await db.query<{ sealed: Buffer | null }>(text, [runId]);
  const sealed = rows[0]?.sealed;
  // The seal proves that this text was written by sealContext.
  return sealed ? (JSON.parse(sealer.open(sealed, `run-context:${runId}`)) as Context) : {};
}

const contextOf = (runId: string): string => `run:${runId}`;
