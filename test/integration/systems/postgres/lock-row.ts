import { onTestFinished } from 'vitest';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';

/** A table, and a condition with the parameter `value` for its rows. */
export type RowOf = [table: string, condition: string, value: unknown];

/** Locks rows until the test ends or `release` is called. */
export async function lockRow(pool: Pool, [table, condition, value]: RowOf) {
  const client = await pool.connect();
  let isHeld = true;
  const release = async (): Promise<void> => {
    if (isHeld) await client.query('rollback');
    if (isHeld) client.release();
    isHeld = false;
  };
  onTestFinished(release);
  await client.query('begin');
  await client.query(`select from ${table} where ${condition} for no key update`, [value]);
  return { release };
}
