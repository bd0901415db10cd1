import type { Db } from '../client/pool.ts';

/** Held until the connection closes, so the pool must have only one. */
export async function lockInitialResources(db: Db): Promise<void> {
  await db.query(`select pg_advisory_lock(hashtextextended('initial resources', 0))`);
}
