import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createUsageCounter } from '../../../../api/auth/key-usage.ts';
import { dayOf } from '../../../../core/agent/usage.ts';
import { limits } from '../../../../core/limits.ts';
import { createKeyUsageStore } from '../../../../systems/postgres/accounts/key-usage-store.ts';
import type { Tenant } from '../../../support/api-fixture.ts';
import { createTestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { openStream } from '../../../support/sse-client.ts';
import { setDatabaseClock } from '../../systems/postgres/clock.ts';
import { caller } from '../call.ts';
import { useApi } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api } = useApi();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

const usageOf = async ({ projectId }: Tenant, keyId?: string) => {
  const path = `/api/projects/${projectId}${keyId === undefined ? '' : `/keys/${keyId}`}/usage`;
  return (await operator(path)).json.data;
};

test('counts every call with a key, its errors and duration, in every process', async () => {
  const tenant = await fixture.tenant({ key: { rateLimitRpm: 7 } });
  const other = await fixture.start();
  const flows = '/api/v1/flows';
  for (const process of [api, other, api]) await caller(process, tenant.key)(flows);
  await caller(api, tenant.key)(`/api/v1/runs/${randomUUID()}`);
  await caller(other, tenant.key)('/api/v1/nothing');
  await caller(other, tenant.key)(`${flows}?x=1`);
  await caller(api, tenant.key)(flows);
  expect((await caller(api, tenant.key)(flows)).status).toBe(429);
  await caller(api, `${tenant.key.slice(0, -1)}_`)(flows);

  const today = expect.objectContaining({ calls: 8, errors: 4 });
  await expect.poll(async () => (await usageOf(tenant, tenant.keyId)).days.at(-1)).toEqual(today);
  const { days } = await usageOf(tenant, tenant.keyId);
  expect(days).toHaveLength(limits.key.usageDays);
  expect(days.at(-1).day).toBe(dayOf(new Date()));
  expect(days.at(-1).durationMs).toBeGreaterThan(0);
  expect(days.at(-2)).toMatchObject({ calls: 0, errors: 0, durationMs: 0 });
  expect((await usageOf(tenant)).days).toEqual(days);
});

test('counts a stream when it is opened, without its duration', async () => {
  const own = await fixture.start();
  const tenant = await fixture.tenant();
  const { flowId, key } = tenant;
  const made = await caller(own, key)(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } });
  const url = `${own.url}/api/v1/runs/${made.json.data.runId}/stream`;
  const stream = await openStream(url, { key });
  await stream.until((events) => events.length > 0);
  await expect.poll(async () => (await usageOf(tenant)).days.at(-1).calls).toBe(2);
  const { durationMs } = (await usageOf(tenant)).days.at(-1);
  stream.leave();
  await own.close();
  expect((await usageOf(tenant)).days.at(-1)).toMatchObject({ calls: 2, errors: 0, durationMs });
});

test('a stopping process writes its counts', async () => {
  const own = await fixture.start();
  const tenant = await fixture.tenant();
  await caller(own, tenant.key)('/api/v1/flows');
  await own.close();
  expect((await usageOf(tenant)).days.at(-1)).toMatchObject({ calls: 1, errors: 0 });
});

test("a project's usage includes its limits and their use", async () => {
  const runBounds = { maxConcurrentRuns: 5, maxOpenSessions: 7, monthlyRunQuota: 9 };
  const bounds = { ...runBounds, storageQuotaBytes: 1_000_000 };
  const tenant = await fixture.tenant(bounds);
  const trigger = () =>
    caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go' } });
  for (let count = 0; count < 3; count += 1) await trigger();
  await caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/sessions`, { body: {} });
  expect(await usageOf(tenant)).toMatchObject({
    month: new Date().toISOString().slice(0, 7),
    ...{ ...bounds, monthlyRuns: 3, concurrentRuns: 3, openSessions: 1 },
    storedBytes: { files: 0, transcripts: 0, logs: 0, messages: 3 * 'Go'.length },
  });
});

test('returns the requested number of days, at most 30', async () => {
  const path = `/api/projects/${(await fixture.tenant()).projectId}/usage`;
  expect((await operator(`${path}?days=1`)).json.data.days).toHaveLength(1);
  expect((await operator(`${path}?days=30`)).json.data.days).toHaveLength(30);
  for (const days of ['0', '31', 'x']) {
    expect((await operator(`${path}?days=${days}`)).status).toBe(400);
  }
});

test('retries failed writes, and counts them once', async () => {
  const tenant = await fixture.tenant();
  const errors: unknown[] = [];
  let isAway = true;
  const counter = createUsageCounter({
    keyUsage: {
      ...fixture.stores.keyUsage,
      add: (entries) =>
        isAway ? Promise.reject(new Error('away')) : fixture.stores.keyUsage.add(entries),
    },
    now: () => new Date(),
    onError: (error) => errors.push(error),
  });
  counter.record(tenant.keyId, { calls: 1 });
  await counter.close();
  isAway = false;
  counter.record(tenant.keyId, { calls: 1, errors: 1 });
  await counter.close();
  await counter.close();
  expect(errors).toHaveLength(1);
  expect((await usageOf(tenant)).days.at(-1)).toMatchObject({ calls: 2, errors: 1 });
});

test('loses no counts under concurrent writes', async () => {
  const tenants = await Promise.all(Array.from({ length: 5 }, () => fixture.tenant()));
  const entries = tenants.map(({ keyId }) => ({
    ...{ keyId, day: dayOf(new Date()), calls: 1, errors: 1, durationMs: 2 },
  }));
  const orders = [entries, [...entries].reverse()];
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => fixture.stores.keyUsage.add(orders[n % 2] ?? [])),
  );
  for (const tenant of tenants) {
    expect((await usageOf(tenant)).days.at(-1)).toMatchObject({
      ...{ calls: 40, errors: 40, durationMs: 80 },
    });
  }
});

test('uses UTC days, and deletes the 31st', async () => {
  const own = await createTestDatabase();
  const { projectId } = await createScenario(own.pool, testSealer);
  const { rows } = await own.pool.query<{ id: string }>(
    `insert into api_keys (id, project_id, name, created_by, shown_prefix, key_hash)
     values (gen_random_uuid(), $1, 'ci', 'ana', 'x', 'x') returning id`,
    [projectId],
  );
  const keyId = rows[0]?.id ?? '';
  const store = createKeyUsageStore(own.pool);
  await setDatabaseClock(own.pool, '2030-01-31T23:59:59.999Z');
  const one = { keyId, calls: 1, errors: 0, durationMs: 0 };
  await store.add(['2030-01-01', '2030-01-02', '2030-01-31'].map((day) => ({ ...one, day })));
  const days = await store.ofKey(keyId, 30);
  expect(days[0]).toMatchObject({ day: '2030-01-02', calls: 1 });
  expect(days.at(-1)).toMatchObject({ day: '2030-01-31', calls: 1 });
  await store.purge();
  const left = await own.pool.query(`select day::text from key_usage order by day`);
  expect(left.rows.map(({ day }) => day as string)).toEqual(['2030-01-02', '2030-01-31']);
  await own.drop();
});
