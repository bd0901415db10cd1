// Dependencies that work but are misconfigured: permissions, versions, attributes, inodes.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runQueue } from '../../../core/temporal/task-queues.ts';
import type { ApiFixture } from '../../support/api-fixture.ts';
import { doctorWith, openDoctorFixture } from '../../support/doctor-fixture.ts';
import { type OwnTemporal, startOwnTemporal } from '../../support/own-temporal.ts';
import { cliWith } from '../../support/run-cli.ts';

let fixture: ApiFixture;
let env: Record<string, string>;

beforeAll(async () => {
  ({ fixture, env } = await openDoctorFixture(randomBytes(32).toString('base64')));
});
afterAll(() => fixture?.close());

test('accepts a newer schema and names its migrations', async () => {
  const { pool } = fixture.database;
  await pool.query(`insert into migrations (name, sha256) values ('999_to_come', '')`);
  const { state, facts } = (await doctorWith(env)()).of('schema');
  await pool.query(`delete from migrations where name = '999_to_come'`);
  expect([state, facts.at(-1)]).toEqual(['ok', 'newer migrations: 999_to_come']);
});

test('reports missing permissions in the database', async () => {
  const { pool, url } = fixture.database;
  const role = `reader_${randomBytes(4).toString('hex')}`;
  await pool.query(`create role ${role} login password 'x'`);
  await pool.query(`grant select on migrations, schema_functions to ${role}`);
  await pool.query(`revoke execute on function db_clock() from public`);
  const theirs = new URL(url);
  Object.assign(theirs, { username: role, password: 'x' });
  const doctor = doctorWith({ ...env, DATABASE_URL: theirs.href });
  const some = await doctor();
  const ofRuns = ['runs', 'messages', 'schedules', 'webhooks', 'events'];
  const unread = ['secrets', 'hosts', ...ofRuns];
  for (const code of [
    ...unread.map((what) => `${what}_unreadable`),
    'clock_unknown',
    'retention_unknown',
  ])
    expect(some.about(code), code).toMatch(/permission denied.*Check the log of Postgres/);
  for (const code of ['workers_unknown', 'containers_unknown'])
    expect(some.about(code), code).toMatch(/permission denied.*Check the log of/);
  await pool.query(`revoke select on migrations, schema_functions from ${role}`);
  const none = await doctor();
  expect(none.about('schema_unreadable')).toMatch(
    /permission denied.*Grant the user of DATABASE_URL/,
  );
  expect(none.of('hosts').state).toBe('skipped');
  await pool.query(`grant execute on function db_clock() to public`);
  await pool.query(`drop role ${role}`);
});

test('reports that large files cannot be stored without temporary tables', async () => {
  const { pool, url } = fixture.database;
  const role = `uploader_${randomBytes(4).toString('hex')}`;
  await pool.query(`create role ${role} login password 'x'`);
  const theirs = new URL(url);
  Object.assign(theirs, { username: role, password: 'x' });
  const doctor = doctorWith({ ...env, DATABASE_URL: theirs.href });
  const name = new URL(url).pathname.slice(1);
  expect((await doctor()).of('temporary tables').facts).toEqual(['permitted']);
  await pool.query(`revoke temporary on database "${name}" from public`);
  expect((await doctor()).about('temporary_tables_denied')).toMatch(
    /no file over 1 MiB can be stored.*grant temporary on database/,
  );
  await pool.query(`grant temporary on database "${name}" to public`);
  await pool.query(`drop role ${role}`);
});

test('reports missing search attributes, and registers them only while a worker runs', async () => {
  const temporal = await startOwnTemporal();
  const doctor = doctorWith({ ...env, TEMPORAL_ADDRESS: temporal.address });
  const before = await doctor({ fix: true });
  expect(before.about('search_attributes_missing')).toMatch(
    /namespace default lacks the search attributes ProjectId, .*search_attribute_registration_failed/,
  );
  expect(before.of('search attributes').fixed).toEqual([]);
  await askForWork(temporal);
  expect((await doctor()).of('workers').state).toBe('ok');
  const { state, fixed } = (await doctor({ fix: true })).of('search attributes');
  expect([state, fixed]).toEqual(['ok', [expect.stringContaining('ProjectId')]]);
  expect((await doctor()).about('search_attributes_missing')).toBe('');
  await temporal.stop();
});

/** Like a worker, once. */
async function askForWork({ connection }: OwnTemporal): Promise<void> {
  const taskQueue = { name: runQueue(env['INSTANCE'] ?? '') };
  const asking = { namespace: 'default', taskQueue, identity: 'somebody' };
  await connection.withDeadline(Date.now() + 3_000, () =>
    connection.workflowService.pollWorkflowTaskQueue(asking).catch(() => undefined),
  );
}

test('reports the disk of Postgres below twice its reserve, and skips it if it is unknown', async () => {
  const giB = 1024 ** 3;
  const doctorAt = async (freeBytes: number) => {
    const space = { freeBytes, reserveBytes: 2 * giB };
    const postgresDisk = { isShort: () => false, last: () => space };
    const { url } = await fixture.start({ postgresDisk });
    return doctorWith({ ...env, PUBLIC_URL: url })();
  };
  const facts = ['4.0 GiB free', '2.0 GiB reserved'];
  expect((await doctorAt(4 * giB)).of('postgres disk')).toMatchObject({ state: 'ok', facts });
  expect((await doctorAt(3 * giB)).about('postgres_disk_short')).toMatch(
    /only 3\.0 GiB free\. With less than 2\.0 GiB.*503.*RUN_RETENTION_DAYS/,
  );
  expect((await doctorWith(env)()).of('postgres disk').state).toBe('skipped');
});

test('reports a disk without free inodes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'few-files-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8g,nr_inodes=1000', 'tmpfs', folder]);
  try {
    const diagnosis = await doctorWith({ ...env, DATA_DIR: folder })();
    expect(diagnosis.about('data_dir_disk_short')).toMatch(
      /8\.0 GiB and 999 inodes free.*RUN_RETENTION_DAYS/,
    );
  } finally {
    execFileSync('umount', [folder]);
    rmdirSync(folder);
  }
});

test('measures the disk, leaves no file, and warns with the reserve that it needs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fast-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6g', 'tmpfs', folder]);
  try {
    const small = { ...env, DATA_DIR: folder, DISK_RESERVE_BYTES: '1' };
    const diagnosis = await doctorWith(small)();
    expect(diagnosis.of('disk speed').facts).toEqual([
      expect.stringMatching(/^writes [1-9].* per second$/),
    ]);
    expect(diagnosis.about('disk_reserve_small')).toMatch(
      /writes \S+ .iB in 2 seconds, but .* Set DISK_RESERVE_BYTES to \d{10,} or more\.$/,
    );
    expect(diagnosis.of('disk speed').state).toBe('warning');
    const { out, err } = await cliWith(small)('doctor');
    expect(out).toMatch(
      /^warning +disk speed +writes .*\n.*\[disk_reserve_small\]\n +→ Set DISK_RESERVE_BYTES to \d/m,
    );
    // This instance has no worker.
    expect(err).toMatch(/^Checks failed: (?!.*disk speed)/);
    expect(readdirSync(folder)).toEqual([]);
    const skipping = await doctorWith({ ...env, DATA_DIR: folder })();
    expect(skipping.of('disk speed').state).toBe('skipped');
  } finally {
    execFileSync('umount', [folder]);
    rmdirSync(folder);
  }
});
