import type { PoolClient } from 'pg';
import type { Db, Pool } from './pool.ts';

/**
 * The level is stated, because a server or a database may have another default. Every statement
 * must see what was committed before it began: a count after a lock includes the work of the lock's
 * last holder.
 */
export const beginTransaction = 'begin isolation level read committed';

/**
 * Other requests of the project wait for such a transaction. If its client stops between two
 * statements, Postgres ends the transaction after this time.
 */
const beginBrief = `${beginTransaction}; set local idle_in_transaction_session_timeout = '5s'`;

/** Runs `work` on one connection, and commits all of it or nothing. */
export function inTransaction<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  return onConnection(pool, { begin: beginTransaction, end: 'commit' }, work);
}

/** The same for `work` that locks a project or a flow. */
export function inBriefTransaction<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  return onConnection(pool, { begin: beginBrief, end: 'commit' }, work);
}

/** Runs `work` and rolls it back in any case; returns its result. */
export function inDryRun<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  return onConnection(pool, { begin: beginBrief, end: 'rollback' }, work);
}

async function onConnection<T>(
  pool: Pool,
  { begin, end }: { begin: string; end: 'commit' | 'rollback' },
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query(end);
    client.release();
    return result;
  } catch (error) {
    await rollBack(client);
    throw error;
  }
}

/** A connection that cannot roll back is closed. */
async function rollBack(client: PoolClient): Promise<void> {
  try {
    await client.query('rollback');
    client.release();
  } catch {
    client.release(true);
  }
}
