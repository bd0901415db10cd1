// Work on rows of several projects: while one project is locked by a process that has stopped, no
// other project waits for it.

import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createKeyStore } from '../../../../systems/postgres/accounts/key-store.ts';
import type { MissingRun } from '../../../../systems/postgres/maintenance/import-runs.ts';
import type { Unpurged } from '../../../../systems/postgres/maintenance/purge-together.ts';
import { createReconcileStore } from '../../../../systems/postgres/maintenance/reconcile-store.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { createScheduleStore } from '../../../../systems/postgres/maintenance/schedule-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { lockRow } from './lock-row.ts';
import { untilWaiting } from './session-turns.ts';

const database = useDatabase();
const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);
const retention = () => createRetentionStore(database.pool);
const dayMs = 24 * 3_600_000;
const sha256 = Buffer.alloc(32);

let stalled: Scenario;
let other: Scenario;
beforeAll(() => query('insert into blobs (sha256, size) values ($1, 1)', [sha256]));
beforeEach(async () => {
  await query('truncate runs, flow_files cascade');
  stalled = await createScenario(database.pool, testSealer);
  other = await createScenario(database.pool, testSealer);
});

/** A run with a file that ended two days ago. */
async function endedRun(of: Scenario): Promise<string> {
  const { runId } = await of.run();
  const end = { runId, cause: 'completed', detail: null, exitCode: 0 } as const;
  await createRunStore(database.pool, testSealer).endRun(end);
  await query(`update runs set ended_at = ended_at - interval '2 days' where id = $1`, [runId]);
  await query(
    `insert into run_files (run_id, path, sha256, size, mode, scope, modified_at)
     values ($1, 'a', $2, 1, 420, 'run', db_clock())`,
    [runId, sha256],
  );
  return runId;
}

/** The ids of these rows that no transaction has locked. */
async function unlocked(table: string, ids: string[]): Promise<string[]> {
  const text = `select id from ${table} where id::text = any($1) for no key update skip locked`;
  const { rows } = await database.pool.query<{ id: string }>(text, [ids]);
  return rows.map(({ id }) => id);
}

async function purged(column: 'files_purged_at' | 'log_purged_at'): Promise<string[]> {
  const text = `select id from runs where ${column} is not null`;
  const { rows } = await database.pool.query<{ id: string }>(text);
  return rows.map(({ id }) => id);
}

test('the files of runs are purged with the runs of one project locked at a time', async () => {
  const runIds = [await endedRun(stalled), await endedRun(other)];
  const { release } = await lockRow(database.pool, ['run_files', 'run_id = any($1)', runIds]);
  const purging = retention().runFiles(dayMs);
  await untilWaiting(database.pool);
  expect(await unlocked('runs', runIds)).toHaveLength(1);
  await release();
  expect(await purging).toBe(2);
  expect((await query('select from run_files')).rowCount).toBe(0);
});

test('the files of a locked run are purged later, and those of other runs at once', async () => {
  const [locked, free] = [await endedRun(stalled), await endedRun(other)];
  const { release } = await lockRow(database.pool, ['runs', 'id = $1', locked]);
  const failed: Unpurged = new Map();
  expect(await retention().runFiles(dayMs, failed)).toBe(1);
  expect([...failed]).toEqual([[locked, 'locked']]);
  expect(await purged('files_purged_at')).toEqual([free]);
  await release();
  expect(await retention().runFiles(dayMs)).toBe(1);
  expect(await purged('files_purged_at')).toHaveLength(2);
});

test('the log of a locked run is marked as purged later, and those of other runs at once', async () => {
  const [locked, free] = [await endedRun(stalled), await endedRun(other)];
  const { release } = await lockRow(database.pool, ['runs', 'id = $1', locked]);
  const failed: Unpurged = new Map();
  while ((await retention().logs(dayMs, failed)) > 0);
  expect([...failed]).toEqual([[locked, 'locked']]);
  expect(await purged('log_purged_at')).toEqual([free]);
  await release();
  while ((await retention().logs(dayMs)) > 0);
  expect(await purged('log_purged_at')).toHaveLength(2);
});

test('replaced flow files that a change of their flow deletes do not delay others', async () => {
  for (const { flow } of [stalled, other]) {
    await query('update flows set files_kept_from = 2 where id = $1', [flow.flowId]);
    await query(
      `insert into flow_files (flow_id, path, valid_from, valid_to, sha256, size, mode, modified_at)
       values ($1, 'a', 1, 2, $2, 1, 420, db_clock())`,
      [flow.flowId, sha256],
    );
  }
  await lockRow(database.pool, ['flow_files', 'flow_id = $1', stalled.flow.flowId]);
  expect(await retention().flowFiles()).toBe(1);
  const { rows } = await query('select flow_id as "flowId" from flow_files');
  expect(rows).toEqual([{ flowId: stalled.flow.flowId }]);
});

test('the use of a locked key is returned to be marked again, and that of others is marked', async () => {
  const keys = createKeyStore(database.pool);
  const create = async ({ projectId }: Scenario) =>
    (await keys.create({ projectId, name: 'ci', createdBy: 'ana' })).record.keyId;
  const [locked, free] = [await create(stalled), await create(other)];
  const { release } = await lockRow(database.pool, ['api_keys', 'id = $1', locked]);
  expect(await keys.touch([locked, free, randomUUID()])).toEqual([locked]);
  expect(await keys.find(free)).toMatchObject({ lastUsedAt: expect.any(Date) });
  expect(await keys.find(locked)).toMatchObject({ lastUsedAt: null });
  await release();
  expect(await keys.touch([locked])).toEqual([]);
  expect(await keys.find(locked)).toMatchObject({ lastUsedAt: expect.any(Date) });
});

test('all schedules are marked for a sync while no flow waits for a locked one', async () => {
  const flowIds = [stalled.flow.flowId, other.flow.flowId];
  await query('update flows set schedule_synced_version = 1 where id = any($1)', [flowIds]);
  // A statement that locked all of them would have the first one when it waits for the second one.
  const [first, second] = flowIds;
  const { release } = await lockRow(database.pool, ['flows', 'id = $1', second]);
  const marking = createScheduleStore(database.pool).resyncAll();
  await untilWaiting(database.pool);
  expect(await unlocked('flows', flowIds)).toEqual([first]);
  await release();
  await marking;
  const marked = 'select from flows where schedule_synced_version = 0 and id = any($1)';
  expect((await query(marked, [flowIds])).rowCount).toBe(2);
});

test('lost runs are imported with one project locked at a time', async () => {
  const lost = ({ projectId, flow }: Scenario): MissingRun => {
    const runId = randomUUID();
    const [startedAt, closedAt] = [new Date(), new Date()];
    const of = { runId, projectId, flowId: flow.flowId, workflowId: `run/${runId}` };
    return { ...of, triggerType: 'api', timeoutSeconds: 60, startedAt, closedAt };
  };
  const runs = [lost(other), lost(stalled)];
  const projectIds = [stalled.projectId, other.projectId];
  const { release } = await lockRow(database.pool, ['projects', 'id = $1', stalled.projectId]);
  const importing = createReconcileStore(database.pool).importRuns(runs);
  await untilWaiting(database.pool);
  expect(await unlocked('projects', projectIds)).toEqual([other.projectId]);
  await release();
  expect(await importing).toEqual(runs.map(({ runId }) => runId));
});
