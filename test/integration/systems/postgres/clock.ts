import type { Pool } from '../../../../systems/postgres/client/pool.ts';

/** Stops the database's clock; only for a database that no other test uses. */
export async function setDatabaseClock(pool: Pool, at: string): Promise<void> {
  const literal = new Date(at).toISOString();
  await pool.query(
    `create or replace function db_clock() returns timestamptz language sql volatile
     as $$ select timestamptz '${literal}' $$`,
  );
}
