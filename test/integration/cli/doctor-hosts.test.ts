// Hosts report facts that only they know with their heartbeat; doctor derives advice from them.

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { HostHealth } from '../../../core/hosts/host-health.ts';
import type { HostModel } from '../../../core/hosts/host-model.ts';
import { createHostStore } from '../../../systems/postgres/hosts/host-store.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../support/database.ts';
import { createScenario } from '../../support/database-records.ts';
import { type Doctor, doctorWith } from '../../support/doctor-fixture.ts';
import { healthyHost } from '../../support/host-health.ts';
import { stackEnv } from '../../support/stack-env.ts';

const instance = `t-${randomUUID().slice(0, 8)}`;
const dayMs = 24 * 3_600_000;
const well: HostHealth = {
  ...healthyHost,
  instance,
  postgresConnections: 20,
  retention: { runMs: 30 * dayMs, sessionFilesMs: 7 * dayMs, webhookAttemptsMs: 30 * dayMs },
};
let database: TestDatabase;
let doctor: Doctor;

beforeAll(async () => {
  database = await createTestDatabase();
  doctor = doctorWith({
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    TEMPORAL_ADDRESS: stackEnv.temporalAddress,
    INSTANCE: instance,
  });
});
afterAll(() => database?.drop());
afterEach(async () => {
  await database.pool.query('delete from hosts');
  await database.pool.query(`delete from installation where fact = 'model_key_seen'`);
});

const host = (
  hostId: string,
  report: Partial<HostHealth> = {},
  { capacity = 4, model = 'key' }: { capacity?: number; model?: HostModel } = {},
) =>
  createHostStore(database.pool).renew({
    hostId,
    name: `name-of-${hostId}`,
    capacity,
    model,
    report: { ...well, ...report },
  });

test('reports a missing host, and accepts a healthy one', async () => {
  expect((await doctor()).about('no_host')).toContain('Start a worker');
  await host('a');
  expect((await doctor()).of('hosts')).toEqual({
    name: 'hosts',
    state: 'ok',
    facts: ['name-of-a: 0 of 4 slots, Docker 28.1.0 with runc, 50.0 GiB free, no project quotas'],
    problems: [],
    fixed: [],
  });
});

test('reports what the hosts report: engine, image, disk, clock, gVisor', async () => {
  await host('a', { engineVersion: null, engineProblem: 'docker: version: connect ENOENT' });
  await host('b', { imagePresent: false, diskFreeBytes: 1024 ** 3, clockAheadMs: 90_000 });
  const runtimeProblem = 'docker: the engine does not have the runtime runsc, only runc';
  const lacking = { runtimeSetting: 'runsc', runtime: null } as const;
  await host('c', { ...lacking, runtimeFault: 'runtime_missing', runtimeProblem });
  const without = 'docker: the engine lists the runtime runsc without --host-uds=open';
  await host('d', { ...lacking, runtimeFault: 'runtime_unusable', runtimeProblem: without });
  const { about } = await doctor();
  expect(about('host_runtime_missing')).toMatch(
    /name-of-c cannot start.* on runsc: .*only runc\. Install gVisor.*npm run setup:gvisor/,
  );
  expect(about('host_runtime_unusable')).toMatch(
    /name-of-d cannot start.* on runsc: .*without --host-uds=open\. Add .*runtimeArgs.*reload it/,
  );
  expect(about('host_engine_unreachable')).toMatch(/name-of-a.*ENOENT.*Start the Docker Engine/);
  expect(about('host_image_missing')).toMatch(/name-of-b.*sandbox:1.*Build or pull the image/);
  expect(about('host_disk_short')).toMatch(
    /name-of-b has only 1\.0 GiB free: it gets no new runs.*Free space/,
  );
  expect(about('host_clock_wrong')).toMatch(/name-of-b is 90 s ahead of that of Postgres.*NTP/);
});

test('says whether the kernel limits what sandboxes of a host write', async () => {
  await host('a', { projectQuotas: 'enforced' });
  await host('b', { projectQuotas: 'denied' });
  expect((await doctor()).of('hosts')).toMatchObject({
    state: 'ok',
    facts: [
      expect.stringMatching(/^name-of-a: .* free, project quotas$/),
      expect.stringMatching(/^name-of-b: .* free, project quotas not permitted to the worker$/),
    ],
  });
});

test('reports a host without free inodes', async () => {
  await host('a', { diskFreeInodes: 12 });
  expect((await doctor()).about('host_disk_short')).toMatch(
    /name-of-a has only 50\.0 GiB and 12 inodes free: it gets no new runs.*df -i/,
  );
});

test('reports a stale host only while it occupies slots', async () => {
  await host('a');
  await host('retired');
  await database.pool.query(`update hosts set last_seen = last_seen - interval '1 hour'
                             where id = 'retired'`);
  expect((await doctor()).of('hosts')).toMatchObject({ state: 'ok' });
  await database.pool.query(`update hosts set last_seen = last_seen - interval '90 s'
                             where id = 'a'`);
  const { about } = await doctor();
  expect(about('host_stale')).toMatch(/name-of-a has sent no heartbeat for 9\d s.*same DATA_DIR/);
});

test.each(['offline', 'offline_by_default'] as const)(
  'reports a host whose model is %s once another one has a key',
  async (model) => {
    await host('a', {}, { model });
    const before = await doctor();
    expect(before.about('host_without_model')).toBe('');
    expect(before.of('hosts')).toMatchObject({
      facts: [expect.stringContaining('4 slots, no model key')],
    });
    await host('b');
    await host('c', {}, { model: 'none' });
    const { about, of } = await doctor();
    expect(about('host_without_model')).toMatch(
      /name-of-a has no model key.*Set ANTHROPIC_API_KEY/,
    );
    expect(of('hosts').problems).toHaveLength(1);
  },
);

test('reports that all hosts are draining or all slots are occupied', async () => {
  await host('a', {}, { capacity: 1 });
  await createHostStore(database.pool).setDraining('a', true);
  expect((await doctor()).about('all_draining')).toContain('flowrun host undrain');
  await createHostStore(database.pool).setDraining('a', false);
  const scenario = await createScenario(database.pool, testSealer);
  expect((await scenario.run()).hostId).toBe('a');
  expect((await doctor()).about('no_free_slot')).toContain('Add a host, raise HOST_CAPACITY');
});

test('reports an INSTANCE that differs from the hosts in the database', async () => {
  await host('a', { instance: 'theirs' });
  const { about } = await doctor();
  expect(about('other_instance')).toMatch(/instance theirs, but INSTANCE is t-.*Set INSTANCE/);
});

test('reports that the processes may open more connections than Postgres allows', async () => {
  await host('a', { postgresConnections: 6 });
  expect((await doctor()).of('connections')).toMatchObject({
    state: 'ok',
    facts: ['APIs: 1, workers: 1: up to 26', expect.stringMatching(/^others: \d+$/), allowed],
  });
  await host('b', { postgresConnections: 900 });
  expect((await doctor()).about('connections_short')).toMatch(
    /may open 926 connections .*APIs: 1, workers: 2.*Raise max_connections.*WORKER_POSTGRES_CONN/,
  );
  await createHostStore(database.pool).markStopped('b');
  expect((await doctor()).of('connections').state).toBe('ok');
});

const allowed = expect.stringMatching(/^\d+ allowed$/);
