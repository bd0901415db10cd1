// All projects wait while free slots are assigned. So an assignment reads the queue once, however
// many slots it assigns. An eviction reads the queue as well.

import { beforeEach, expect, test } from 'vitest';
import { findEvictableOnHosts } from '../../../../systems/postgres/admission/evictable-session.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { countingPool } from './counting-pool.ts';
import { queueRuns } from './queue-runs.ts';

const database = useDatabase();
beforeEach(() => database.pool.query('truncate runs, hosts, project_turns cascade'));

/** Ten projects with this many waiting runs together. */
async function queueInTenProjects(count: number): Promise<void> {
  for (let project = 0; project < 10; project += 1) {
    const { flow } = await createScenario(database.pool, testSealer);
    await queueRuns(database.pool, flow, count / 10);
  }
}

interface Explained {
  'Actual Rows': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/** The blocks that an assignment reads, and how many slots it assigns. */
async function assign(slots: number): Promise<{ assigned: number; blocks: number }> {
  const half = { name: 'h', capacity: slots / 2 };
  for (const hostId of ['h-1', 'h-2'])
    await createHostStore(database.pool).renew({ hostId, ...half });
  const client = await database.pool.connect();
  const explain = `explain (analyze, buffers, format json) select from assign_waiting('30 s')`;
  try {
    const blocks: number[] = [];
    let assigned = 0;
    for (const end of ['rollback', 'rollback', 'commit']) {
      await client.query('begin');
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Explained }] }>(explain);
      await client.query(end);
      const plan = rows[0]?.['QUERY PLAN'][0].Plan;
      if (plan === undefined) throw new Error('no plan');
      blocks.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
      assigned = plan['Actual Rows'];
    }
    // The first call also reads the catalog, and so does one after an ANALYZE by autovacuum.
    return { assigned, blocks: Math.min(...blocks) };
  } finally {
    client.release();
  }
}

test('assigns a hundred slots to five hundred waiting runs with few reads', async () => {
  await queueInTenProjects(500);
  const { assigned, blocks } = await assign(100);
  expect(assigned).toBe(100);
  expect(blocks).toBeLessThan(6_000);
});

test('assigns further slots without reading the queue again', async () => {
  await queueInTenProjects(2_000);
  const few = await assign(2);
  const many = await assign(42);
  expect([few.assigned, many.assigned]).toEqual([2, 40]);
  expect((many.blocks - few.blocks) / 38).toBeLessThan(100);
});

test('looks for the hosts of two thousand waiting runs once per project', async () => {
  await queueInTenProjects(2_000);
  await createHostStore(database.pool).renew({
    hostId: 'h',
    name: 'h',
    capacity: 0,
    model: 'offline',
  });
  await database.pool.query('analyze runs, flows'); // the plan depends on the statistics
  const { counted, pool } = countingPool(database.pool);
  await findEvictableOnHosts(pool, 30_000); // the first call also reads the catalog
  counted.blocks = 0;
  await findEvictableOnHosts(pool, 30_000);
  expect(counted.blocks).toBeLessThan(1_000);
});
