// Removing logs must be much less work than writing them, so that retention never falls behind.
// Work is counted in blocks and calls, which depend on neither the clock nor the machine.

import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { insertEndedLogs, writeLog } from './ended-logs.ts';
import { countBlocks } from './growth/count-blocks.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const dayMs = 24 * 3_600_000;
const runs = 100;
const framesOfRun = 100;

let client: PoolClient;
let runId = '';
beforeAll(async () => {
  ({ runId } = await scenario.run());
  await insertEndedLogs(database.pool, scenario, { runs, framesOfRun });
  expect(await createRetentionStore(database.pool).packLogs(dayMs)).toBe(runs);
  await database.pool.query('vacuum analyze');
  client = await database.pool.connect();
});
afterAll(() => client?.release());

/** What each call has removed or marked. */
async function removeLogs(pool: Pool): Promise<number[]> {
  const removed: number[] = [];
  while (removed.at(-1) !== 0) removed.push(await createRetentionStore(pool).logs(dayMs));
  return removed;
}

test('removing a packed log reads at most a tenth of the blocks that writing it reads', async () => {
  const written = await countBlocks(client, (pool) => writeLog(pool, runId, framesOfRun));
  const removed = await countBlocks(client, removeLogs);
  expect(written.blocks).toBeGreaterThan(framesOfRun);
  expect((removed.blocks / runs) * 10).toBeLessThanOrEqual(written.blocks);
});

test('one call removes the packed logs of 100 runs, and another one marks the runs', async () => {
  expect(await removeLogs(database.pool)).toEqual([runs, runs, 0]);
});
