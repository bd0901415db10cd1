import { clockAheadMs } from '../../../core/clock-offset.ts';
import type { Db } from './pool.ts';

export async function postgresVersion(db: Db): Promise<string> {
  const text = `select current_setting('server_version') as version`;
  const { rows } = await db.query<{ version: string }>(text);
  // Debian appends its own version.
  return rows[0]?.version.split(' ')[0] ?? '';
}

/** Large files are staged in temporary tables; see put-blob.ts. */
export async function mayCreateTemporaryTables(db: Db): Promise<boolean> {
  const text = `select has_database_privilege(current_database(), 'temporary') as allowed`;
  const { rows } = await db.query<{ allowed: boolean }>(text);
  return rows[0]?.allowed === true;
}

/** How far this process's clock is ahead of the database's. */
export async function clockAheadOfPostgres(db: Db): Promise<number> {
  const atMs = Date.now();
  const { rows } = await db.query<{ now: Date }>('select db_clock() as now');
  const answeredAtMs = Date.now();
  return clockAheadMs({ atMs, answeredAtMs }, rows[0]?.now.getTime() ?? atMs);
}
