import type { PoolClient } from 'pg';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';

/** Called before each matching statement on this connection; `nth` counts them. */
type Hook = (client: PoolClient, nth: number) => Promise<unknown>;

/** A pool that calls a hook before each statement of a transaction that contains a text. */
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

/** Loses its connection just before the `nth` statement that contains this text. */
export const failingPool = (pool: Pool, text: RegExp, nth: number): Pool =>
  hookedPool(pool, text, async (client, seen) => {
    if (seen !== nth) return;
    await client.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
  });
