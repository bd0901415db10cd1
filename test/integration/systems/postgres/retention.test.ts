import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createRetention } from '../../../../worker/reconciler/jobs/retention.ts';
import { testSealer } from '../../../support/database.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
beforeEach(() => database.pool.query('truncate runs, blobs cascade'));

const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);
const retention = () => createRetentionStore(database.pool);
const dayMs = 24 * 3_600_000;
const miB = 1024 * 1024;

/** A run that ended two days ago. */
async function endedRun(frames: number): Promise<string> {
  const { runId } = await scenario.run();
  const runs = createRunStore(database.pool, testSealer);
  await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  await query(`update runs set ended_at = ended_at - interval '2 days' where id = $1`, [runId]);
  await query(
    `insert into frames (run_id, seq, at, event, channel, data)
     select $1, n, db_clock(), 'output', 'output', '{}' from generate_series(1, $2::integer) n`,
    [runId, frames],
  );
  return runId;
}

const framesLeft = async (): Promise<number | null> =>
  (await query('select from frames limit 10000')).rowCount;

test('deletes the logs of 100 runs together, at most 1 000 frames at a time', async () => {
  for (let made = 0; made < 101; made += 1) await endedRun(10);
  const deleted: number[] = [];
  for (let call = 0; call < 5; call += 1) deleted.push(await retention().logs(dayMs));
  expect(deleted).toEqual([1_000, 100, 10, 1, 0]);
  expect(await framesLeft()).toBe(0);
});

test('leaves no frame if two workers delete the same log', async () => {
  const runId = await endedRun(1_500);
  const other = await database.pool.connect();
  await other.query('begin');
  await other.query('delete from frames where run_id = $1 and seq <= 1000', [runId]);
  const deleting = retention().logs(dayMs);
  const blocked = `select from pg_stat_activity
                   where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await query(blocked)).rowCount).toBe(1);
  await other.query('commit');
  other.release();
  await deleting;
  let deleted = 1;
  while (deleted > 0) deleted = await retention().logs(dayMs);
  expect(await framesLeft()).toBe(0);
});

/** Runs that ended 31 days ago, with 10 frames and this many files each. */
async function endedRuns(count: number, files: number): Promise<void> {
  const sha256 = Buffer.alloc(32);
  await query('insert into blobs (sha256, size) values ($1, 1) on conflict do nothing', [sha256]);
  await query(
    `with made as (
       insert into runs (
         id, flow_id, project_id, trigger_type, prompt, key_name, key_created_by,
         timeout_seconds, status, workflow_id, ended_at, end_cause
       )
       select gen_random_uuid(), $1, $2, 'api', '', 'ci', 'ana', 60, 'sleep',
              gen_random_uuid(), db_clock() - interval '31 days', 'completed'
       from generate_series(1, $3::integer)
       returning id
     ), logs as (insert into run_logs (run_id) select id from made),
     output as (
       insert into frames (run_id, seq, at, event, channel, data)
       select id, n, db_clock(), 'output', 'output', '{}' from made, generate_series(1, 10) n
     )
     insert into run_files (run_id, path, sha256, size, mode, scope, modified_at)
     select id, 'file-' || n, $5, 1, 420, 'run', db_clock()
     from made, generate_series(1, $4::integer) n`,
    [scenario.flow.flowId, scenario.projectId, count, files, sha256],
  );
}

/** How many runs each call purges. */
async function purges(): Promise<number[]> {
  const purged: number[] = [];
  while (purged.at(-1) !== 0) purged.push(await retention().runFiles(dayMs));
  return purged;
}

test('deletes the files of 100 runs together, at most 20 000 at a time, and more of one run', async () => {
  await endedRuns(101, 1);
  expect(await purges()).toEqual([100, 1, 0]);
  await endedRuns(3, 10_000);
  expect(await purges()).toEqual([2, 1, 0]);
  await endedRuns(1, 20_001);
  await endedRuns(1, 1);
  expect((await purges()).toSorted()).toEqual([0, 1, 1]);
  expect((await query('select from run_files')).rowCount).toBe(0);
});

test('purges files once if two workers purge the same runs', async () => {
  await endedRuns(100, 1);
  const [one, other] = await Promise.all([
    retention().runFiles(dayMs),
    retention().runFiles(dayMs),
  ]);
  expect(one + other).toBe(100);
});

// A worker whose runs take 10 s, 50 at a time, ends 5 per second. A call takes well under a second.
test('purges 200 ended runs with each call', async () => {
  const times = { runMs: 30 * dayMs, sessionFilesMs: 7 * dayMs, webhookAttemptsMs: 30 * dayMs };
  const deps = { retention: retention(), retentionTimes: times, logger: pino({ level: 'silent' }) };
  const { purgeRows } = createRetention(deps);
  await endedRuns(500, 2);
  const left = async () =>
    (await query('select from runs where log_purged_at is null or files_purged_at is null'))
      .rowCount;
  for (const most of [300, 100, 0]) {
    await purgeRows();
    expect(await left()).toBeLessThanOrEqual(most);
  }
  expect(await purgeRows()).toBe(true);
});

async function unreferencedBlobs(sizes: number[]): Promise<void> {
  for (const size of sizes) {
    await query(
      `insert into blobs (sha256, size, created_at)
       values ($1, $2, db_clock() - interval '2 days')`,
      [randomBytes(32), size],
    );
  }
}

/** How many blobs each call deletes. */
async function removals(): Promise<number[]> {
  const removed: number[] = [];
  let batch = await retention().removeBlobs(dayMs, '');
  while (batch !== null) {
    removed.push(batch.removed);
    batch = await retention().removeBlobs(dayMs, batch.last);
  }
  return removed;
}

test('deletes up to 64 MiB of blobs at a time, and a larger blob alone', async () => {
  await unreferencedBlobs([32 * miB, 32 * miB]);
  expect(await removals()).toEqual([2]);
  await unreferencedBlobs([32 * miB, 32 * miB + 1]);
  expect(await removals()).toEqual([1, 1]);
  await unreferencedBlobs([500 * miB]);
  expect(await removals()).toEqual([1]);
});

test('leaves a blob that another transaction uses', async () => {
  await unreferencedBlobs([1, 1]);
  const other = await database.pool.connect();
  await other.query('begin');
  await other.query('select from blobs limit 1 for key share');
  expect(await removals()).toEqual([1]);
  await other.query('rollback');
  other.release();
  expect(await removals()).toEqual([1]);
});
