import type { RunConfig } from '../../core/run-config.ts';
import type { Db, Pool } from './pool.ts';
import type { Sealer } from './seal.ts';

export type ConfigStore = ReturnType<typeof createConfigStore>;

export function createConfigStore(pool: Pool, sealer: Sealer) {
  return {
    /** Null once acknowledged, and once the run has ended. */
    read: (runId: string): Promise<RunConfig | null> => readConfig(pool, sealer, runId),
    /** Forgets it for good. Safe to repeat. */
    acknowledge: (runId: string): Promise<void> => deleteConfig(pool, runId),
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

export async function deleteConfig(db: Db, runId: string): Promise<void> {
  await db.query('delete from run_configs where run_id = $1', [runId]);
}

const contextOf = (runId: string): string => `run:${runId}`;
