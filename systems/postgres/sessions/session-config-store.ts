import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { SessionConfig } from '../../../core/sessions/session.ts';
import type { ChangeAuthor } from '../accounts/record-entry.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { recordRunFields } from '../runs/record-run-change.ts';

export function sealSessionConfig(sealer: Sealer, runId: string, config: RunConfig): Buffer {
  return sealer.seal(JSON.stringify(config), contextOf(runId));
}

interface ConfigRow {
  sealed: Buffer;
  version: number;
}

function openRow(sealer: Sealer, runId: string, row: ConfigRow | undefined): SessionConfig | null {
  if (row === undefined) return null;
  return { config: openSessionConfig(sealer, runId, row.sealed), version: row.version };
}

export function openSessionConfig(sealer: Sealer, runId: string, sealed: Buffer): RunConfig {
  // The seal proves that this text was written by sealSessionConfig.
  return JSON.parse(sealer.open(sealed, contextOf(runId))) as RunConfig;
}

export async function readSessionConfig(
  db: Db,
  sealer: Sealer,
  { runId, unlessAcknowledgedBy }: { runId: string; unlessAcknowledgedBy: number },
): Promise<SessionConfig | null> {
  const { rows } = await db.query<ConfigRow>(
    `select config_sealed as sealed, config_version as version from sessions
     where run_id = $1 and acknowledged_generation < $2 and config_sealed is not null`,
    [runId, unlessAcknowledgedBy],
  );
  return openRow(sealer, runId, rows[0]);
}

/**
 * The sandbox cannot read the configuration again. False if a later one has acknowledged. Safe to
 * repeat.
 */
export async function acknowledgeSessionConfig(
  db: Db,
  { runId, generation, version }: { runId: string; generation: number; version: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sessions
     set acknowledged_generation = $2,
         started_config_version =
           case when acknowledged_generation < $2 then $3 else started_config_version end
     where run_id = $1 and acknowledged_generation <= $2`,
    [runId, generation, version],
  );
  return rowCount === 1;
}

interface ConfigChange {
  runId: string;
  change: (config: RunConfig) => RunConfig;
  author: ChangeAuthor;
}

/** Concurrent changes are applied one after the other. Locks the run before the session. */
export function changeSessionConfig(
  pool: Pool,
  sealer: Sealer,
  { runId, change, author }: ConfigChange,
): Promise<RunConfig | null> {
  return inTransaction(pool, async (db) => {
    await db.query('select from runs where id = $1 for no key update', [runId]);
    const { rows } = await db.query<ConfigRow>(
      `select config_sealed as sealed, config_version as version from sessions
       where run_id = $1 and config_sealed is not null for no key update`,
      [runId],
    );
    const known = openRow(sealer, runId, rows[0]);
    if (known === null) return null;
    const config = change(known.config);
    await db.query(
      `update sessions set config_sealed = $2, config_version = config_version + 1
       where run_id = $1`,
      [runId, sealSessionConfig(sealer, runId, config)],
    );
    await nameServers(db, runId, config);
    const fields = { before: { ...known.config }, after: { ...config } };
    await recordRunFields(db, author, { runId, action: 'session_config_changed', ...fields });
    return config;
  });
}

/** Updates the names in the run's row as admission does: with those of the flow if merged. */
async function nameServers(
  db: Db,
  runId: string,
  { mcpServers, mcpMode }: RunConfig,
): Promise<void> {
  await db.query(
    `update runs r
     set mcp_server_names = array(
       select distinct s.name
       from unnest($2::text[] || case when $3 then offered_servers(f) end) s(name) order by 1
     )
     from flows f where r.id = $1 and f.id = r.flow_id`,
    [runId, Object.keys(mcpServers), mcpMode === 'merge'],
  );
}

const contextOf = (runId: string): string => `session:${runId}`;
