import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { Db, Pool } from '../client/pool.ts';
import type { SandboxGeneration } from '../log/lease.ts';
import type { Sealer } from './seal.ts';

export type RunConfigStore = ReturnType<typeof createRunConfigStore>;

export function createRunConfigStore(pool: Pool, sealer: Sealer) {
  return {
    /** Null once it was acknowledged, once the run has ended, and for a superseded sandbox. */
    read: (of: SandboxGeneration): Promise<RunConfig | null> => readConfig(pool, sealer, of),
    /**
     * Deletes the configuration; the run stays on its host from then on. False for a superseded
     * sandbox, whose agent must not start. Safe to repeat.
     */
    acknowledge: (of: SandboxGeneration): Promise<boolean> => acknowledge(pool, of),
    /** The values of the request's `X-Ctx-*` headers; stored with the run, for operators. */
    context: (runId: string): Promise<Context> => readContext(pool, sealer, runId),
  };
}

export function sealConfig(sealer: Sealer, runId: string, config: RunConfig): Buffer {
  return sealer.seal(JSON.stringify(config), contextOf(runId));
}

async function readConfig(
  db: Db,
  sealer: Sealer,
  { runId, generation }: SandboxGeneration,
): Promise<RunConfig | null> {
  const text = `
    select c.sealed from run_configs c join runs r on r.id = c.run_id
    where c.run_id = $1 and r.generation = $2`;
  const { rows } = await db.query<{ sealed: Buffer }>(text, [runId, generation]);
  const sealed = rows[0]?.sealed;
  return sealed ? openConfig(sealer, runId, sealed) : null;
}

export function openConfig(sealer: Sealer, runId: string, sealed: Buffer): RunConfig {
  // The seal proves that this text was written by sealConfig.
  return JSON.parse(sealer.open(sealed, contextOf(runId))) as RunConfig;
}

/**
 * Locks the run, as a move to another host does, so that only one of the two succeeds. A repeat
 * also succeeds, unless a later generation exists by then.
 */
async function acknowledge(db: Db, { runId, generation }: SandboxGeneration): Promise<boolean> {
  const { rowCount } = await db.query(
    `with current as (select id from runs where id = $1 and generation = $2 for share),
     deleted as (delete from run_configs c using current where c.run_id = current.id)
     select from current`,
    [runId, generation],
  );
  return rowCount === 1;
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
