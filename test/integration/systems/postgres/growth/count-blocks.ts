// Counts the blocks that a call reads from tables and indexes. The server counts them, so neither a
// clock nor the load of the machine has an influence.

import type { PoolClient } from 'pg';
import type { Pool } from '../../../../../systems/postgres/client/pool.ts';

export interface Reads {
  blocks: number;
  /** How many entries the call returned; 0 if it returned no list. */
  entries: number;
  /** The blocks of each table and index. */
  of: ReadonlyMap<string, number>;
}

/** A call of a store, on the connections of this pool. */
export type Call = (pool: Pool) => Promise<unknown>;

/** From the sixth execution on, Postgres may keep a plan that suits no particular parameters. */
const rehearsals = 5;
/** The fewest count: now and then an insert finds a full page of an index, and reads more. */
const measurements = 3;

/** Nothing that the call changes remains. `prepare` runs before it in the same transaction. */
export async function countBlocks(
  client: PoolClient,
  call: Call,
  prepare = 'select',
): Promise<Reads> {
  const pool = nestedPool(client);
  for (let n = 0; n < rehearsals; n += 1) await rolledBack(client, prepare, () => call(pool));
  const measured: Reads[] = [];
  for (let n = 0; n < measurements; n += 1)
    measured.push(await rolledBack(client, prepare, () => measure(client, () => call(pool))));
  return measured.reduce((fewest, reads) => (reads.blocks < fewest.blocks ? reads : fewest));
}

async function measure(client: PoolClient, call: () => Promise<unknown>): Promise<Reads> {
  const before = await blocksOfRelations(client);
  const result = await call();
  const after = await blocksOfRelations(client);
  const of = new Map(
    [...after].map(([relation, blocks]) => [relation, blocks - (before.get(relation) ?? 0)]),
  );
  const blocks = [...of.values()].reduce((sum, read) => sum + read, 0);
  return { blocks, entries: Array.isArray(result) ? result.length : 0, of };
}

/** The time of a call in milliseconds. Nothing that it changes remains. */
export async function timeCall(client: PoolClient, call: Call): Promise<number> {
  return rolledBack(client, 'select', async () => {
    const startedAt = performance.now();
    await call(nestedPool(client));
    return performance.now() - startedAt;
  });
}

/** Of the updates of runs, those that wrote to no index (HOT). */
export async function countUpdatesOfRuns(
  client: PoolClient,
  call: Call,
): Promise<{ all: number; hot: number }> {
  return rolledBack(client, 'select', async () => {
    const before = await updatesOfRuns(client);
    await call(nestedPool(client));
    const after = await updatesOfRuns(client);
    return { all: after.all - before.all, hot: after.hot - before.hot };
  });
}

async function updatesOfRuns(client: PoolClient): Promise<{ all: number; hot: number }> {
  const { rows } = await client.query<{ all: number; hot: number }>(
    `select pg_stat_get_xact_tuples_updated('runs'::regclass) as all,
            pg_stat_get_xact_tuples_hot_updated('runs'::regclass) as hot`,
  );
  return rows[0] ?? { all: 0, hot: 0 };
}

async function rolledBack<T>(
  client: PoolClient,
  prepare: string,
  work: () => Promise<T>,
): Promise<T> {
  await client.query('begin isolation level read committed');
  try {
    // The server does not add up what parallel processes read.
    await client.query('set local max_parallel_workers_per_gather = 0');
    await client.query(prepare);
    return await work();
  } finally {
    await client.query('rollback');
  }
}

async function blocksOfRelations(client: PoolClient): Promise<Map<string, number>> {
  const { rows } = await client.query<{ relation: string; blocks: number }>(
    `select c.relname as relation, pg_stat_get_xact_blocks_fetched(c.oid) as blocks
     from pg_class c
     where c.relnamespace <> 'pg_catalog'::regnamespace
       and pg_stat_get_xact_blocks_fetched(c.oid) > 0`,
  );
  return new Map(rows.map(({ relation, blocks }) => [relation, blocks]));
}

/** Its connections are all this client, so a transaction of the call becomes a savepoint. */
function nestedPool(client: PoolClient): Pool {
  const query = (statement: unknown, values: unknown): unknown =>
    client.query(nested(statement) as string, values as unknown[]);
  const connection = { query, release: () => undefined };
  return { query, connect: async () => connection } as unknown as Pool;
}

function nested(statement: unknown): unknown {
  if (typeof statement !== 'string') return statement;
  if (statement.startsWith('begin')) return 'savepoint nested';
  if (statement === 'commit') return 'release savepoint nested';
  return statement === 'rollback' ? 'rollback to savepoint nested' : statement;
}
