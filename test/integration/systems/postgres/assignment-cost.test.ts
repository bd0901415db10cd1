// All projects wait while free slots are assigned. So an assignment reads the queue once, however
// many slots it assigns.

import { beforeEach, expect, test } from 'vitest';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';

const database = useDatabase();
beforeEach(() => database.pool.query('truncate runs, hosts, project_turns cascade'));

/** Ten projects with this many waiting runs together. */
async function queueRuns(count: number): Promise<void> {
  for (let project = 0; project < 10; project += 1) {
    const { projectId, flow } = await createScenario(database.pool, testSealer);
    await database.pool.query(
      `insert into runs (
         id, flow_id, project_id, trigger_type, prompt, key_name, key_created_by, timeout_seconds,
         workflow_id, waiting_since
       )
       select gen_random_uuid(), $1, $2, 'api', '', 'ci', 'ana', 60, gen_random_uuid(),
         db_clock() + n * interval '1 ms'
       from generate_series(1, $3::integer) n`,
      [flow.flowId, projectId, count / 10],
    );
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
    // The first call also reads the catalog.
    await client.query('begin');
    await client.query(explain);
    await client.query('rollback');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Explained }] }>(explain);
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (plan === undefined) throw new Error('no plan');
    const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    return { assigned: plan['Actual Rows'], blocks };
  } finally {
    client.release();
  }
}

test('assigns a hundred slots to five hundred waiting runs with few reads', async () => {
  await queueRuns(500);
  const { assigned, blocks } = await assign(100);
  expect(assigned).toBe(100);
  expect(blocks).toBeLessThan(6_000);
});

test('assigns further slots without reading the queue again', async () => {
  await queueRuns(2_000);
  const few = await assign(2);
  const many = await assign(42);
  expect([few.assigned, many.assigned]).toEqual([2, 40]);
  expect((many.blocks - few.blocks) / 38).toBeLessThan(100);
});
