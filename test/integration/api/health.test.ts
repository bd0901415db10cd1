import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { HostHealth } from '../../../core/hosts/host-health.ts';
import { limits } from '../../../core/limits.ts';
import { createPool } from '../../../systems/postgres/client/pool.ts';
import { requireCompleteSchema } from '../../../systems/postgres/schema/schema-state.ts';
import { redisVersion } from '../../../systems/redis/probe.ts';
import { createEmptyDatabase } from '../../support/database.ts';
import { lostRedis } from '../../support/redis-fixture.ts';
import { setDatabaseClock } from '../systems/postgres/clock.ts';
import { caller } from './call.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();

const report: HostHealth = {
  instance: 'box-internal',
  postgresConnections: 20,
  retention: { runMs: 1, sessionFilesMs: 2, webhookAttemptsMs: 3 },
  engineVersion: '28.1.0',
  engineProblem: null,
  image: 'registry.internal/sandbox:1',
  imagePresent: true,
  runtimeSetting: 'auto',
  runtime: 'runc',
  runtimeFault: null,
  runtimeProblem: null,
  diskFreeBytes: 7,
  diskTotalBytes: 9,
  diskReserveBytes: 2,
  diskFreeInodes: 11,
  diskReserveInodes: 3,
  projectQuotas: 'off',
  clockAheadMs: 0,
};

test('answers health and readiness without a key', async () => {
  const anyone = caller(api, null);
  expect((await anyone('/healthz')).json).toEqual({ data: { status: 'ok' } });
  const ready = await anyone('/readyz');
  const probed = { latencyMs: expect.any(Number), version: expect.stringMatching(/^\d+\.\d+/) };
  expect([ready.status, ready.json]).toEqual([
    200,
    {
      data: {
        status: 'ok',
        checks: { postgres: 'ok', redis: 'ok' },
        details: { postgres: probed, redis: probed },
        clockAheadMs: 0,
        hosts: [],
        postgresDisk: null,
      },
    },
  ]);
  const half = await fixture.start({
    checks: {
      postgres: async () => ({ version: null }),
      temporal: () => Promise.reject(new Error('away')),
    },
  });
  const unready = await caller(half, null)('/readyz');
  expect(unready.status).toBe(503);
  expect(unready.json.data).toMatchObject({
    status: 'failed',
    checks: { postgres: 'ok', temporal: 'failed' },
  });
  expect(unready.text).not.toContain('away');
  // A probe every few seconds is logged only while a dependency fails.
  await expect
    .poll(() => linesOf(api.log()))
    .toMatchObject([{ level: 'debug' }, { level: 'debug' }]);
  await expect.poll(() => linesOf(half.log())).toMatchObject([{ level: 'info', status: 503 }]);
});

const linesOf = (log: string): object[] =>
  log
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line) as object);

test('is not ready without Redis, or with an incomplete schema', async () => {
  const empty = await createEmptyDatabase();
  const redis = lostRedis();
  const started = await fixture.start({
    checks: {
      schema: async () => ({ version: await requireCompleteSchema(empty.pool) }),
      redis: async () => ({ version: await redisVersion(redis) }),
      whole: async () => ({ version: await requireCompleteSchema(fixture.database.pool) }),
    },
  });
  const { status, json } = await caller(started, null)('/readyz');
  expect([status, json.data.checks]).toEqual([
    503,
    { schema: 'failed', redis: 'failed', whole: 'ok' },
  ]);
  expect(json.data.details.whole.version).toMatch(/^\d{3}_/);
  expect(started.log()).toContain('run flowrun migrate');
  redis.disconnect();
  await empty.drop();
});

test('reports the state of hosts without their names', async () => {
  await fixture.stores.hosts.renew({ hostId: 'host-x', name: 'box.internal', capacity: 2, report });
  const { text, json } = await caller(api, null)('/readyz');
  expect(json.data.hosts).toEqual([
    {
      msSinceHeartbeat: expect.any(Number),
      draining: false,
      model: 'key',
      offersModel: true,
      engineVersion: '28.1.0',
      imagePresent: true,
      runtimeSetting: 'auto',
      runtime: 'runc',
      runtimeFault: null,
      diskFreeBytes: 7,
      diskTotalBytes: 9,
      diskFreeInodes: 11,
      clockAheadMs: 0,
    },
  ]);
  expect(text).not.toMatch(/internal|host-x/);

  const unusable = { runtimeSetting: 'runsc', runtime: null } as const;
  for (const runtimeFault of ['runtime_missing', 'runtime_unusable'] as const) {
    const lacking = { ...report, ...unusable, runtimeFault, runtimeProblem: 'internal' };
    const host = { hostId: 'host-x', name: 'box.internal', capacity: 2, report: lacking };
    await fixture.stores.hosts.renew(host);
    const then = await caller(api, null)('/readyz');
    expect(then.json.data.hosts).toMatchObject([{ ...unusable, runtimeFault }]);
    expect(then.text).not.toMatch(/internal/);
  }
});

test('answers in time while dependencies hang, with one check for concurrent callers', async () => {
  const unreachable = createPool('postgres://nobody@192.0.2.1/nothing', {
    applicationName: 'test',
  });
  let probes = 0;
  const stuck = await fixture.start({
    checks: {
      postgres: async () => {
        probes += 1;
        await unreachable.query('select 1');
        return { version: null };
      },
    },
    facts: { clockAheadMs: () => sleep(60_000, 0), hosts: () => sleep(60_000, []) },
  });
  const from = performance.now();
  const answers = await Promise.all([1, 2, 3].map(() => caller(stuck, null)('/readyz')));
  expect(performance.now() - from).toBeLessThan(limits.http.readinessTimeoutMs * 10);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  expect(answers[0]?.json.data).toMatchObject({
    checks: { postgres: 'failed' },
    clockAheadMs: null,
    hosts: null,
  });
  expect(probes).toBe(1);
});

test('reports its clock offset from Postgres', async () => {
  await setDatabaseClock(fixture.database.pool, new Date(Date.now() + 3_600_000).toISOString());
  const { status, json } = await caller(api, null)('/readyz');
  expect(status).toBe(200);
  expect(json.data.clockAheadMs).toBeLessThan(-3_500_000);
});
