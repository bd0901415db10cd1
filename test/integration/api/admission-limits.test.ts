// The admission checks of a trigger, in order. Each test sets the database's clock.

import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { createHostStore } from '../../../systems/postgres/hosts/host-store.ts';
import type { ApiProcess, Tenant } from '../../support/api-fixture.ts';
import { anyRequest } from '../../support/database-records.ts';
import { setDatabaseClock } from '../systems/postgres/clock.ts';
import { type Answer, type CallOptions, caller } from './call.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();
let other: ApiProcess;

beforeAll(async () => {
  other = await fixture.start();
});
beforeEach(() => setDatabaseClock(fixture.database.pool, noon));

const noon = '2027-03-15T12:00:00.000Z';
const later = (ms: number) => new Date(Date.parse(noon) + ms).toISOString();

const trigger = ({ flowId, key }: Tenant, options: CallOptions = {}, at = api): Promise<Answer> =>
  caller(at, key)(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' }, ...options });

const withKey = (idempotencyKey: string): CallOptions => ({
  headers: { 'idempotency-key': idempotencyKey },
});

const endRun = (runId: string) =>
  fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });

/** Everything that an admission stores. */
async function written(): Promise<unknown> {
  const { rows } = await fixture.database.pool.query(
    `select (select count(*) from runs) as runs, (select count(*) from run_logs) as logs,
            (select count(*) from run_configs) as configs,
            (select count(*) from idempotency_keys) as keys,
            (select sum(admitted)::int from monthly_runs) as counted`,
  );
  return { ...rows[0], started: fixture.asked.started.length };
}

async function expectRefused(
  call: () => Promise<Answer>,
  expected: { status: number; code: string; limit?: number; current?: number },
): Promise<void> {
  const before = await written();
  const { status, json, headers } = await call();
  const { status: wantedStatus, ...error } = expected;
  expect(status).toBe(wantedStatus);
  expect(json).toEqual({ error: { ...error, message: expect.stringMatching(/./) } });
  expect(headers.has('retry-after')).toBe(error.code === 'RATE_LIMITED');
  expect(await written()).toEqual(before);
}

const offline = { status: 409, code: 'RUNNER_OFFLINE' };
const atCap = (limit: number) => ({ status: 429, code: 'CONCURRENT_LIMIT', limit, current: limit });
const overQuota = (limit: number) => ({
  status: 429,
  code: 'MONTHLY_QUOTA',
  limit,
  current: limit,
});
const unauthorized = { status: 401, code: 'UNAUTHORIZED' };
const invalid = { status: 400, code: 'VALIDATION_ERROR' };

test('applies the limits in order, and a rejection consumes nothing', async () => {
  const tenant = await fixture.tenant({ maxConcurrentRuns: 1, monthlyRunQuota: 1 });
  const { projectId, flowId } = tenant;
  const foreign = await fixture.tenant();
  const first = await trigger(tenant, withKey('first'));
  expect(first.status).toBe(201);
  const { runId } = first.json.data;
  await fixture.stores.flows.change(flowId, () => ({ runner: 'away' }));

  // Starts with every possible error and fixes one after the other.
  const wrong = { flowId: foreign.flowId, body: { prompt: 7 } };
  const spent = await spentKey(projectId);
  const of = (given: { flowId: string; key: string; body?: unknown }) =>
    trigger({ ...tenant, ...given }, { body: given.body ?? { prompt: 'Go' } });
  await expectRefused(() => of({ ...wrong, key: 'frs_none' }), unauthorized);
  await expectRefused(() => of({ ...wrong, key: spent }), { status: 429, code: 'RATE_LIMITED' });
  await expectRefused(() => of({ ...wrong, key: tenant.key }), invalid);
  const forbidden = { status: 403, code: 'UNAUTHORIZED' };
  await expectRefused(() => of({ flowId: foreign.flowId, key: tenant.key }), forbidden);
  const nowhere = () => of({ flowId: randomUUID(), key: tenant.key });
  await expectRefused(nowhere, { status: 404, code: 'NOT_FOUND' });

  const before = await written();
  const replay = await trigger(tenant, withKey('first'));
  expect([replay.status, replay.json.data.runId]).toEqual([200, runId]);
  expect(await written()).toEqual(before);

  await expectRefused(() => trigger(tenant, withKey('second')), offline);
  await fixture.stores.flows.change(flowId, () => ({ runner: null }));
  await expectRefused(() => trigger(tenant, withKey('second')), atCap(1));
  await endRun(runId);
  await expectRefused(() => trigger(tenant, withKey('second')), overQuota(1));
  await fixture.stores.projects.update(projectId, { monthlyRunQuota: 2 });
  // No rejection has used up the key.
  expect((await trigger(tenant, withKey('second'))).status).toBe(201);
  await expectRefused(() => trigger(tenant, withKey('third')), atCap(1));
});

/** A key of the project whose bucket is empty. */
async function spentKey(projectId: string): Promise<string> {
  const named = { projectId, name: 'slow', createdBy: 'ana', rateLimitRpm: 1 };
  const { key } = await fixture.stores.keys.create(named);
  await caller(api, key)('/api/v1/flows');
  return key;
}

test('allows ten concurrent runs by default', async () => {
  const tenant = await fixture.tenant();
  const { maxConcurrentRuns } = await newProjectDefaults();
  expect(maxConcurrentRuns).toBe(10);
  await fixture.stores.projects.update(tenant.projectId, { maxConcurrentRuns });
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, i) => trigger(tenant, {}, i % 2 === 0 ? api : other)),
  );
  const admitted = answers.filter(({ status }) => status === 201);
  expect(admitted).toHaveLength(10);
  for (const { status, json } of answers.filter((answer) => !admitted.includes(answer))) {
    expect({ status, ...json.error }).toMatchObject(atCap(10));
  }
  await endRun(admitted[0]?.json.data.runId);
  expect((await trigger(tenant)).status).toBe(201);
  await expectRefused(() => trigger(tenant), atCap(10));
});

async function newProjectDefaults() {
  const projectId = `p-${randomUUID()}`;
  const project = await fixture.stores.projects.create({ projectId, name: 'New' });
  if (project === null) throw new Error('no project');
  return project;
}

test('rejects every run at a limit or quota of zero, and none without a quota', async () => {
  const closed = await fixture.tenant({ maxConcurrentRuns: 0 });
  await expectRefused(() => trigger(closed), atCap(0));
  const unpaid = await fixture.tenant({ monthlyRunQuota: 0 });
  await expectRefused(() => trigger(unpaid), overQuota(0));
  expect((await newProjectDefaults()).monthlyRunQuota).toBeNull();
});

test('counts the quota by runs of API keys per UTC month', async () => {
  const tenant = await fixture.tenant({ monthlyRunQuota: 2 });
  const at = (time: string) => setDatabaseClock(fixture.database.pool, time);
  await at('2027-04-01T00:00:00.000Z');
  const first = await trigger(tenant, withKey('april'));
  expect(first.status).toBe(201);
  const path = `/api/v1/runs/${first.json.data.runId}`;
  expect((await caller(api, tenant.key)(path, { method: 'DELETE' })).status).toBe(200);
  await at('2027-04-30T23:59:59.999Z');
  await otherTriggers(tenant, ['dashboard', 'schedule']);
  expect((await trigger(tenant, withKey('last'))).status).toBe(201);
  await expectRefused(() => trigger(tenant), overQuota(2));
  expect((await trigger(tenant, withKey('last'))).status).toBe(200);
  await otherTriggers(tenant, ['dashboard', 'schedule']);

  await at('2027-05-01T00:00:00.000Z');
  expect((await trigger(tenant)).status).toBe(201);
  expect((await trigger(tenant)).status).toBe(201);
  await expectRefused(() => trigger(tenant), overQuota(2));
});

/** Runs without an API key: they count towards the cap, not the quota. */
async function otherTriggers(tenant: Tenant, types: ('dashboard' | 'schedule')[]) {
  for (const triggerType of types) {
    const request = { ...anyRequest(tenant), triggerType };
    expect((await fixture.stores.admission.admitRun(request)).outcome).toBe('admitted');
  }
}

test('a deleted run occupies its slot until it has ended', async () => {
  const tenant = await fixture.tenant({ maxConcurrentRuns: 1 });
  const { json } = await trigger(tenant);
  const path = `/api/v1/runs/${json.data.runId}`;
  await caller(api, tenant.key)(path, { method: 'DELETE' });
  await expectRefused(() => trigger(tenant), atCap(1));
  await endRun(json.data.runId);
  expect((await trigger(tenant)).status).toBe(201);
});

test('a host gets runs of its flows until its heartbeat is stale', async () => {
  const hosts = createHostStore(fixture.database.pool);
  const host = { hostId: `h-${randomUUID()}`, name: 'Own', capacity: 1 };
  const tenant = await fixture.tenant({ flow: { runner: host.hostId } });
  await expectRefused(() => trigger(tenant), offline);
  await hosts.renew(host);
  const first = await trigger(tenant);
  expect(first.status).toBe(201);
  // A full and draining host is not offline: the run waits for a slot.
  await hosts.setDraining(host.hostId, true);
  expect((await trigger(tenant)).status).toBe(201);
  await setDatabaseClock(fixture.database.pool, later(limits.host.staleMs - 1));
  expect((await trigger(tenant, withKey('seen'))).status).toBe(201);
  await setDatabaseClock(fixture.database.pool, later(limits.host.staleMs));
  await expectRefused(() => trigger(tenant), offline);
  expect((await trigger(tenant, withKey('seen'))).status).toBe(200);
  await hosts.renew(host);
  expect((await trigger(tenant)).status).toBe(201);
});

test('an idempotency key is valid for 24 hours, then admits another run', async () => {
  const tenant = await fixture.tenant();
  const first = await trigger(tenant, withKey('daily'));
  await setDatabaseClock(fixture.database.pool, later(limits.idempotency.windowMs - 1));
  const last = await trigger(tenant, withKey('daily'));
  expect([last.status, last.json.data.runId]).toEqual([200, first.json.data.runId]);
  await setDatabaseClock(fixture.database.pool, later(limits.idempotency.windowMs));
  const anew = await trigger(tenant, withKey('daily'));
  expect(anew.status).toBe(201);
  expect(anew.json.data.runId).not.toBe(first.json.data.runId);
});
