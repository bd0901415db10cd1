import type { PoolClient } from 'pg';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';

/** Before a statement on this connection, the `nth` that has the text. */
type Hook = (client: PoolClient, nth: number) => Promise<unknown>;

/** A pool that calls a hook before each statement of a transaction that has a text. */
export function hookedPool(pool: Pool, text: RegExp, before: Hook): Pool {
  let seen = 0;
  const connect = async () => {
    const client = await pool.connect();
    const query = async (statement: string, values?: unknown[]) => {
      if (text.test(statement)) {
        seen += 1;
        await before(client, seen);
      }
      return client.query(statement, values);
    };
    return { query, release: client.release.bind(client) };
  };
  return { query: pool.query.bind(pool), connect } as unknown as Pool;
}

/** Its connection is lost just before a statement, the `nth` that has this text. */
export const failingPool = (pool: Pool, text: RegExp, nth: number): Pool =>
  hookedPool(pool, text, async (client, seen) => {
    if (seen !== nth) return;
    await client.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
  });
