import { clockAheadMs } from '../../../core/clock-offset.ts';
import type { Db } from './pool.ts';

export async function postgresVersion(db: Db): Promise<string> {
  const text = `select current_setting('server_version') as version`;
  const { rows } = await db.query<{ version: string }>(text);
  // Debian writes its own name behind the number.
  return rows[0]?.version.split(' ')[0] ?? '';
}

/** Of this process's clock, against the one that all of the service goes by. */
export async function clockAheadOfPostgres(db: Db): Promise<number> {
  const atMs = Date.now();
  const { rows } = await db.query<{ now: Date }>('select db_clock() as now');
  const answeredAtMs = Date.now();
  return clockAheadMs({ atMs, answeredAtMs }, rows[0]?.now.getTime() ?? atMs);
}
