import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { publicUrl } from '../../../support/api-fixture.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
let path: string;
beforeAll(async () => {
  operator = await signedIn(fixture, api, 'olga');
  path = `/api/projects/${tenant.projectId}/keys`;
});

const create = (body: unknown) => operator(path, { body });
const flows = (key: string) => caller(api, key)('/api/v1/flows');

test('shows a key in full once; it works at once and has its creator', async () => {
  const made = await create({ name: 'deploy', rateLimitRpm: 10_000 });
  expect(made.status).toBe(201);
  const { key, ...record } = made.json.data;
  expect(record).toMatchObject({
    projectId: tenant.projectId,
    name: 'deploy',
    createdBy: 'olga',
    shownPrefix: key.slice(0, 12),
    rateLimitRpm: 10_000,
    monthlyBudgetUsd: null,
    state: 'active',
    expiresAt: null,
    lastUsedAt: null,
  });
  const used = await flows(key);
  expect([used.status, used.headers.get('x-ratelimit-limit')]).toEqual([200, '10000']);
  const read = await operator(`${path}/${record.keyId}`);
  const listed = await operator(path);
  expect(read.json.data).toMatchObject({ keyId: record.keyId, shownPrefix: record.shownPrefix });
  expect(listed.json.data.at(-1)).toMatchObject({ keyId: record.keyId, name: 'deploy' });
  for (const text of [read.text, listed.text, api.log()]) expect(text).not.toContain(key.slice(12));
});

test('a key has the default rate, and an expiry only if requested', async () => {
  const expiresAt = new Date(Date.now() + 5_000).toISOString();
  const made = (await create({ name: 'short', expiresAt })).json.data;
  expect(made).toMatchObject({ rateLimitRpm: 60, expiresAt });
  expect((await flows(made.key)).status).toBe(200);
  await expect.poll(() => flows(made.key)).toMatchObject({ status: 401 });
  expect((await operator(`${path}/${made.keyId}`)).json.data.state).toBe('expired');
});

test.each([
  [{}, 'body.name'],
  [{ name: '' }, 'body.name'],
  [{ name: 'a\0b' }, 'body.name'],
  [{ name: 'k', rateLimitRpm: 0 }, 'body.rateLimitRpm'],
  [{ name: 'k', rateLimitRpm: 10_001 }, 'body.rateLimitRpm'],
  [{ name: 'k', rateLimitRpm: 1.5 }, 'body.rateLimitRpm'],
  [{ name: 'k', monthlyBudgetUsd: -0.01 }, 'body.monthlyBudgetUsd'],
  [{ name: 'k', monthlyBudgetUsd: 1_000_000.01 }, 'body.monthlyBudgetUsd'],
  [{ name: 'k', expiresAt: 'tomorrow' }, 'body.expiresAt'],
  [{ name: 'k', expiresAt: '2020-01-01T00:00:00Z' }, 'body.expiresAt'],
  [{ name: 'k', createdBy: 'another operator' }, 'body.createdBy: unknown field'],
])('rejects an invalid key, naming the field: %j', async (body, field) => {
  const answer = await create(body);
  expect([answer.status, answer.json.error.message]).toEqual([400, expect.stringContaining(field)]);
});

test('returns the last use of a key, rejected calls included', async () => {
  const { key, keyId } = (await create({ name: 'seen' })).json.data;
  const lastUsedAt = async () => (await operator(`${path}/${keyId}`)).json.data.lastUsedAt;
  const beforeMs = Date.now();
  await caller(api, key)('/api/v1/nothing');
  await expect.poll(lastUsedAt).toMatch(/^\d{4}-.*Z$/);
  expect(Date.parse(await lastUsedAt())).toBeGreaterThan(beforeMs - 1_000);
});

test('accepts rates of 1 and 10 000 per minute', async () => {
  for (const rateLimitRpm of [1, 10_000]) {
    const { key } = (await create({ name: 'bound', rateLimitRpm })).json.data;
    expect((await flows(key)).headers.get('x-ratelimit-limit')).toBe(String(rateLimitRpm));
  }
});

test('every process rejects a revoked key from the next call on, for good', async () => {
  const other = await fixture.start();
  const { key, keyId } = (await create({ name: 'doomed' })).json.data;
  for (const process of [api, other]) {
    expect((await caller(process, key)('/api/v1/flows')).status).toBe(200);
  }
  const revoked = await operator(`${path}/${keyId}`, { method: 'DELETE' });
  expect(revoked.json.data).toMatchObject({ keyId, state: 'revoked' });
  for (const process of [api, other]) {
    const answer = await caller(process, key)('/api/v1/flows');
    expect([answer.status, answer.json.error.code]).toEqual([401, 'UNAUTHORIZED']);
  }
  const again = await operator(`${path}/${keyId}`, { method: 'DELETE' });
  const { revokedAt } = revoked.json.data;
  expect(again.json.data).toMatchObject({ keyId, state: 'revoked', revokedAt });
});

test('the monthly budget of a key can be changed, and nothing else', async () => {
  const made = (await create({ name: 'capped', monthlyBudgetUsd: 0 })).json.data;
  expect(made.monthlyBudgetUsd).toBe(0);
  const at = `${path}/${made.keyId}`;
  const change = (body: unknown) => operator(at, { method: 'PATCH', body });
  const flowPath = `/api/v1/flows/${tenant.flowId}/runs`;
  const run = async () => (await caller(api, made.key)(flowPath, { body: { prompt: 'Go' } })).json;
  expect((await run()).error).toEqual({
    code: 'BUDGET_REACHED',
    message: expect.stringContaining("The key's monthly budget is reached"),
    ...{ limit: 0, current: 0, budget: 'key' },
  });
  for (const monthlyBudgetUsd of [1_000_000, 0.01, null]) {
    const { json } = await change({ monthlyBudgetUsd });
    expect(json.data).toMatchObject({ keyId: made.keyId, name: 'capped', monthlyBudgetUsd });
  }
  expect((await run()).data).toMatchObject({ projectId: tenant.projectId });
  expect((await change({})).json.data.monthlyBudgetUsd).toBeNull();
  for (const body of [{ monthlyBudgetUsd: -1 }, { monthlyBudgetUsd: 1_000_001 }, { name: 'x' }])
    expect((await change(body)).status).toBe(400);
  const other = await fixture.tenant();
  const foreign = await operator(`${path}/${other.keyId}`, { method: 'PATCH', body: {} });
  expect(foreign.status).toBe(404);
  const entries = await operator(`/api/audit?projectId=${tenant.projectId}&action=key_changed`);
  const fields = (entry: { fieldsBefore: string[]; fieldsAfter: string[] }) => [
    entry.fieldsBefore,
    entry.fieldsAfter,
  ];
  const name = ['monthlyBudgetUsd'];
  expect(entries.json.data.map(fields)).toEqual([
    [[], []],
    [name, []],
    [name, name],
    [name, name],
  ]);
});

test('a key of another project is 404, and is not revoked', async () => {
  const other = await fixture.tenant();
  const answer = await operator(`${path}/${other.keyId}`, { method: 'DELETE' });
  expect([answer.status, answer.json.error.code]).toEqual([404, 'NOT_FOUND']);
  expect((await flows(other.key)).status).toBe(200);
});

test('keys are listed page by page, each once', async () => {
  const own = await fixture.tenant();
  const projectPath = `/api/projects/${own.projectId}/keys`;
  for (let count = 0; count < 4; count += 1)
    await operator(projectPath, { body: { name: `k${count}` } });
  const listed: string[] = [];
  for (let url: string | undefined = `${projectPath}?limit=2`; url !== undefined; ) {
    const page = await operator(url);
    listed.push(...page.json.data.map((each: { keyId: string }) => each.keyId));
    url = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]?.replace(publicUrl, '');
  }
  const all = (await fixture.stores.keys.list(own.projectId)).map(({ keyId }) => keyId);
  expect(listed).toEqual(all);
  expect(listed).toHaveLength(5);
  const unknown = await operator(`${projectPath}?cursor=${randomUUID()}`);
  expect([unknown.status, unknown.json.data]).toEqual([200, []]);
});
