// Triggers refuse to delete some rows, as a damaged page of a table does.

import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { beforeEach, expect, test, vi } from 'vitest';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createRetention } from '../../../../worker/reconciler/jobs/retention.ts';
import { testSealer } from '../../../support/database.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);
beforeEach(async () => {
  await query('truncate runs, blobs, model_calls cascade');
  await query(`create or replace function refuse() returns trigger language plpgsql as $$
    begin raise exception 'this row cannot be deleted'; end $$`);
  for (const table of ['frames', 'run_files', 'runs', 'blobs', 'model_calls'])
    await query(`drop trigger if exists refuse on ${table}`);
});

const refuse = (table: string, when: string) =>
  query(`create trigger refuse before delete on ${table}
         for each row when (${when}) execute function refuse()`);

const dayMs = 24 * 3_600_000;
const logger = pino({ level: 'silent' });
const createPurges = () =>
  createRetention({
    retention: createRetentionStore(database.pool),
    retentionTimes: { runMs: dayMs, sessionFilesMs: dayMs, webhookAttemptsMs: dayMs },
    logger,
  });

/** A run that ended two days ago, with a frame and a file. */
async function endedRun(): Promise<string> {
  const { runId } = await scenario.run();
  const runs = createRunStore(database.pool, testSealer);
  const sha256 = randomBytes(32);
  await query(`insert into blobs (sha256, size) values ($1, 1)`, [sha256]);
  await query(
    `insert into run_files (run_id, path, sha256, size, mode, modified_at)
     values ($1, 'a', $2, 1, 420, db_clock())`,
    [runId, sha256],
  );
  await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  await query(`update runs set ended_at = ended_at - interval '2 days' where id = $1`, [runId]);
  await query(
    `insert into frames (run_id, seq, at, event, channel, data)
     values ($1, 1000, db_clock(), 'output', 'output', '{}')`,
    [runId],
  );
  return runId;
}

async function endedRuns(count: number): Promise<string[]> {
  const runIds: string[] = [];
  for (let made = 0; made < count; made += 1) runIds.push(await endedRun());
  return runIds;
}

const runsOf = async (table: 'frames' | 'run_files') =>
  (await query(`select distinct run_id as id from ${table}`)).rows.map(({ id }) => id);

/** Calls until nothing is left that can be deleted. */
async function purgeAll(purge: () => Promise<boolean>): Promise<void> {
  let calls = 0;
  while (!(await purge())) calls += 1;
  expect(calls).toBeLessThan(20);
}

/** What the retention has logged as not deleted. */
function watchFailures(): () => unknown[] {
  const { calls } = vi.spyOn(logger, 'warn').mock;
  calls.length = 0;
  return () => calls.map(([about]) => about);
}

test.each(['frames', 'run_files'] as const)(
  'deletes the %s of all other runs if those of one cannot be deleted, and logs the run',
  async (table) => {
    const runIds = await endedRuns(5);
    const [, bad = ''] = runIds;
    await refuse(table, `old.run_id = '${bad}'`);
    const failures = watchFailures();
    const { purgeRows } = createPurges();
    await purgeAll(purgeRows);
    expect(await runsOf(table)).toEqual([bad]);
    const kind = table === 'frames' ? 'logs' : 'runFiles';
    expect(failures()).toEqual([{ kind, id: bad, err: expect.any(Error) }]);
    await query(`drop trigger refuse on ${table}`);
    await purgeAll(purgeRows);
    expect([await runsOf('frames'), await runsOf('run_files')]).toEqual([[], []]);
  },
);

test('deletes all other deleted runs if one cannot be deleted', async () => {
  const runIds = await endedRuns(3);
  await query(`update runs set deleted_at = db_clock() - interval '2 days'`);
  await refuse('runs', `old.id = '${runIds[0]}'`);
  await purgeAll(createPurges().purgeRows);
  const { rows } = await query('select id from runs');
  expect(rows).toEqual([{ id: runIds[0] }]);
});

test('deletes all other blobs if one cannot be deleted', async () => {
  const hashes = Array.from({ length: 5 }, () => randomBytes(32));
  for (const sha256 of hashes)
    await query(
      `insert into blobs (sha256, size, created_at)
       values ($1, 1, db_clock() - interval '2 days')`,
      [sha256],
    );
  const bad = hashes[2]?.toString('hex');
  await refuse('blobs', `old.sha256 = decode('${bad}', 'hex')`);
  const failures = watchFailures();
  const { purgeBlobs } = createPurges();
  await purgeAll(purgeBlobs);
  const { rows } = await query(`select encode(sha256, 'hex') as sha256 from blobs`);
  expect(rows).toEqual([{ sha256: bad }]);
  expect(failures()).toEqual([{ kind: 'blobs', id: bad, err: expect.any(Error) }]);
});

test('deletes all other kinds of rows if one kind cannot be deleted, and fails then', async () => {
  await endedRuns(2);
  await query('delete from frames');
  await query(
    `insert into model_calls (id, run_id, project_id, flow_id, labels, model, started_at, ended_at,
       is_cut_off, is_estimated, input_tokens, output_tokens, cache_read_tokens,
       cache_write_5m_tokens, cache_write_1h_tokens, web_searches)
     select gen_random_uuid(), gen_random_uuid(), 'p', gen_random_uuid(), '{}', 'm',
       db_clock() - interval '800 days', db_clock() - interval '800 days', false, false,
       1, 1, 0, 0, 0, 0`,
  );
  await query(`update runs set deleted_at = db_clock() - interval '2 days'`);
  await refuse('model_calls', 'true');
  await expect(purgeAll(createPurges().purgeRows)).rejects.toThrow('some rows were not deleted');
  expect((await query('select from runs')).rowCount).toBe(0);
  expect((await query('select from model_calls')).rowCount).toBe(1);
});
