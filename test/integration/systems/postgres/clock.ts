import type { Pool } from '../../../../systems/postgres/client/pool.ts';

/** Stands the database's clock still; only for a database of the test's own. */
export async function setDatabaseClock(pool: Pool, at: string): Promise<void> {
  const literal = new Date(at).toISOString();
  await pool.query(
    `create or replace function db_clock() returns timestamptz language sql volatile
     as $$ select timestamptz '${literal}' $$`,
  );
}
