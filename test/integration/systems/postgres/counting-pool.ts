import type { QueryResult } from 'pg';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';

interface Explained {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number };
}

/** A pool that counts the blocks that each of its statements reads. */
export function countingPool(database: Pool) {
  const counted = { blocks: 0 };
  async function query(text: string, values: unknown[]): Promise<QueryResult> {
    const { rows } = await database.query<{ 'QUERY PLAN': Explained[] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    counted.blocks += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
    return database.query(text, values);
  }
  return { counted, pool: { query } as unknown as Pool };
}
