import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type Pool } from '../../../systems/postgres/client/pool.ts';
import { inDatabase } from './own-postgres.ts';

/**
 * Reads how many transactions the server's databases have committed, except its `postgres`
 * database. A connection reports its transactions at the latest when it closes, so the service must
 * be stopped, and the other connections are closed here.
 */
export async function readCommits(postgresUrl: string): Promise<number> {
  const url = inDatabase(postgresUrl, 'postgres');
  const pool = createPool(url, { applicationName: 'commits', max: 1 });
  try {
    while ((await closeOthers(pool)) > 0) await sleep(20);
    const { rows } = await pool.query<{ commits: number }>(
      `select sum(xact_commit)::integer as commits from pg_stat_database
       where datname <> 'postgres' and datname not like 'template%'`,
    );
    return rows[0]?.commits ?? 0;
  } finally {
    await pool.end();
  }
}

async function closeOthers(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname <> 'postgres' and backend_type = 'client backend'`,
  );
  return rowCount ?? 0;
}
