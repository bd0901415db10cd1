import type { PoolClient } from 'pg';
import type { Db, Pool } from './pool.ts';

/** Commits what `work` did, or none of it. Works on one connection and gives it back clean. */
export function inTransaction<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  return onConnection(pool, 'commit', work);
}

/** What `work` would find, which is then taken back in any case. */
export function inDryRun<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  return onConnection(pool, 'rollback', work);
}

async function onConnection<T>(
  pool: Pool,
  end: 'commit' | 'rollback',
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query(end);
    client.release();
    return result;
  } catch (error) {
    await rollBack(client);
    throw error;
  }
}

/** A connection that cannot even roll back is thrown away. */
async function rollBack(client: PoolClient): Promise<void> {
  try {
    await client.query('rollback');
    client.release();
  } catch {
    client.release(true);
  }
}
