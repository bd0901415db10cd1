import type { Db, Pool } from './pool.ts';

/**
 * Runs `work` while no other process holds the lock of this name; false if one does. Postgres
 * releases the lock when the connection is lost. The process notices that late, so `work` must be
 * safe to run twice at once.
 */
export async function withAdvisoryLock(
  pool: Pool,
  name: string,
  work: () => Promise<void>,
): Promise<boolean> {
  const client = await pool.connect();
  let isClean = false;
  try {
    const isLocked = await tryLock(client, name);
    try {
      if (isLocked) await work();
    } finally {
      if (isLocked) await unlock(client, name);
    }
    isClean = true;
    return isLocked;
  } finally {
    // After a failure the connection is closed, which releases the lock in any case.
    client.release(!isClean);
  }
}

async function tryLock(db: Db, name: string): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as "isLocked"';
  const { rows } = await db.query<{ isLocked: boolean }>(text, [name]);
  return rows[0]?.isLocked ?? false;
}

async function unlock(db: Db, name: string): Promise<void> {
  await db.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
}
