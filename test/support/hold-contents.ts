import { onTestFinished } from 'vitest';
import type { Pool } from '../../systems/postgres/client/pool.ts';

/** Postgres stores no content of a blob until the returned function is called or the test ends. */
export async function holdContents(pool: Pool): Promise<() => Promise<void>> {
  const client = await pool.connect();
  await client.query('begin; lock table blob_chunks in share mode');
  let isHeld = true;
  async function release(): Promise<void> {
    if (!isHeld) return;
    isHeld = false;
    await client.query('rollback');
    client.release();
  }
  onTestFinished(release);
  return release;
}
