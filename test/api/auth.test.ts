import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import { type ApiProcess, type ApiWorld, openApiWorld, type Tenant } from './api-world.ts';
import { caller } from './call.ts';

let world: ApiWorld;
let api: ApiProcess;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  world = await openApiWorld();
  api = await world.start();
  tenant = await world.tenant();
  const trigger = caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, {
    body: { prompt: 'Go' },
  });
  runId = (await trigger).json.data.runId;
});
afterAll(() => world.close());

interface Endpoint {
  method: string;
  path: string;
  /** For a key of another project. */
  foreign: number;
}

const endpoints = (): Endpoint[] => [
  { method: 'POST', path: `/api/v1/flows/${tenant.flowId}/runs`, foreign: 403 },
  { method: 'GET', path: `/api/v1/runs/${runId}`, foreign: 403 },
  { method: 'GET', path: `/api/v1/runs/${runId}/stream`, foreign: 404 },
  { method: 'GET', path: `/api/v1/runs/${runId}/logs`, foreign: 403 },
  { method: 'GET', path: `/api/v1/runs/${runId}/files`, foreign: 403 },
  { method: 'GET', path: `/api/v1/runs/${runId}/files/a.txt`, foreign: 403 },
  { method: 'POST', path: `/api/v1/runs/${runId}/stop`, foreign: 403 },
  { method: 'DELETE', path: `/api/v1/runs/${runId}`, foreign: 403 },
  { method: 'POST', path: `/api/v1/runs/${runId}/messages`, foreign: 410 },
  { method: 'GET', path: '/api/v1/flows', foreign: 200 },
];

test('knows of every route that is registered, so that none escapes this matrix', () => {
  const known = endpoints().map(({ path }) => path.split('?')[0]?.replace(/[0-9a-f-]{36}/, ':id'));
  const open = ['/healthz', '/readyz', '/api/v1/openapi.json'];
  const routes = api.app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .filter((line) => /\(.*\)/.test(line));
  expect(routes.length).toBe(new Set(known).size + open.length);
});

test('refuses every endpoint to who has no good key, and does nothing', async () => {
  const expired = await world.stores.keys.create({
    ...named,
    projectId: tenant.projectId,
    expiresAt: new Date(Date.now() - 1_000),
  });
  const revoked = await world.stores.keys.create({ ...named, projectId: tenant.projectId });
  await world.stores.keys.revoke(revoked.record.keyId);
  const headers: Record<string, string>[] = [
    {},
    { authorization: 'Bearer' },
    { authorization: 'Bearer x' },
    { authorization: `Basic ${tenant.key}` },
    { authorization: tenant.key },
    { authorization: `Bearer ${tenant.key} x` },
    { authorization: `Bearer frs_${'A'.repeat(43)}` },
    { authorization: `Bearer xyz_${tenant.key.slice(4)}` },
    { authorization: `Bearer ${tenant.key.slice(0, -1)}` },
    { authorization: `Bearer ${expired.key}` },
    { authorization: `Bearer ${revoked.key}` },
  ];
  for (const { method, path } of endpoints()) {
    for (const header of headers) {
      const answer = await caller(api, null)(path, { method, headers: header });
      expect([answer.status, answer.json?.error.code], `${method} ${path}`).toEqual([
        401,
        'UNAUTHORIZED',
      ]);
      expect(answer.headers.get('x-ratelimit-limit')).toBe('60');
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('60');
    }
  }
  expect((await world.stores.runs.find(runId))?.endCause).toBeNull();
  expect((await caller(api, null)('/api/v1/unknown')).status).toBe(401);
});

test('keeps every endpoint from a key of another project, and does nothing', async () => {
  const stranger = await world.tenant();
  for (const { method, path, foreign } of endpoints()) {
    const answer = await caller(api, stranger.key)(path, {
      method,
      ...(method === 'POST' ? { body: {} } : {}),
    });
    expect([path, answer.status]).toEqual([path, foreign]);
    if (foreign === 403) expect(answer.json.error.code).toBe('UNAUTHORIZED');
    expect(answer.text).not.toContain(tenant.projectId);
  }
  const missing = await caller(api, stranger.key)(`/api/v1/runs/${randomUUID()}`);
  expect(missing.status).toBe(404);
  expect((await world.stores.runs.find(runId))?.endCause).toBeNull();
});

test('takes a key in the query on the stream alone, and never a second one that differs', async () => {
  const stream = `/api/v1/runs/${runId}/stream`;
  const open = (query: string, key: string | null) => {
    const abort = new AbortController();
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    return fetch(`${api.url}${stream}?${query}`, { headers, signal: abort.signal }).then(
      (answer) => {
        abort.abort();
        return answer.status;
      },
    );
  };
  const other = await world.tenant();
  expect(await open(`api_key=${tenant.key}`, null)).toBe(200);
  expect(await open(`api_key=${tenant.key}`, tenant.key)).toBe(200);
  expect(await open(`api_key=${tenant.key}`, other.key)).toBe(401);
  expect(await open(`api_key=${other.key}`, tenant.key)).toBe(401);
  expect(await open(`api_key=${tenant.key}&api_key=${tenant.key}`, null)).toBe(401);
  expect(await open('api_key=', null)).toBe(401);
  const run = `/api/v1/runs/${runId}?api_key=${tenant.key}`;
  expect((await caller(api, null)(run)).status).toBe(401);
  expect((await caller(api, tenant.key)(run)).status).toBe(400);
});

test('counts a revocation from the next call on, on every process', async () => {
  const other = await world.start();
  for (let i = 0; i < 20; i += 1) {
    const { key, record } = await world.stores.keys.create({
      ...named,
      projectId: tenant.projectId,
    });
    const calls = [caller(api, key), caller(other, key)];
    for (const call of calls) expect((await call('/api/v1/flows')).status).toBe(200);
    await world.stores.keys.revoke(record.keyId);
    for (const call of calls) expect((await call('/api/v1/flows')).status).toBe(401);
  }
});

test('does not ask the database for a key that was unknown a moment ago, nor for ever more of them', async () => {
  let asked = 0;
  const counting = await world.start({
    nowMs: () => 1_000_000,
    keys: {
      ...world.stores.keys,
      findByKey: (key) => {
        asked += 1;
        return world.stores.keys.findByKey(key);
      },
    },
  });
  const unknown = () => `frs_${randomUUID().replaceAll('-', '')}AAAAAAAAAAA`;
  const one = unknown();
  const atOnce = 50;
  for (let i = 0; i < 20; i += 1) {
    expect((await caller(counting, one)('/api/v1/flows')).status).toBe(401);
  }
  expect(asked).toBe(1);
  expect((await caller(counting, tenant.key)('/api/v1/flows')).status).toBe(200);

  const statuses: number[] = [];
  for (let round = 0; round < 13; round += 1) {
    const batch = Array.from({ length: atOnce }, () =>
      counting.app.inject({
        url: '/api/v1/flows',
        headers: { authorization: `Bearer ${unknown()}` },
      }),
    );
    statuses.push(...(await Promise.all(batch)).map(({ statusCode }) => statusCode));
  }
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  expect(asked).toBeLessThanOrEqual(limits.unknownKeysPerMinute + atOnce);
  expect((await caller(counting, tenant.key)('/api/v1/flows')).status).toBe(200);
});

test('writes down when a key was used, later and in one go', async () => {
  const writes: string[][] = [];
  const own = await world.start({
    keys: {
      ...world.stores.keys,
      touch: (keyIds) => {
        writes.push(keyIds);
        return world.stores.keys.touch(keyIds);
      },
    },
  });
  const fresh = await world.tenant();
  const began = performance.now();
  for (let i = 0; i < 10; i += 1) await caller(own, fresh.key)('/api/v1/flows');
  await own.close();
  const rounds = Math.floor((performance.now() - began) / limits.keyTouchEveryMs) + 1;
  expect(writes.length).toBeGreaterThanOrEqual(1);
  expect(writes.length).toBeLessThanOrEqual(rounds);
  expect(writes.every((keyIds) => keyIds.length === 1)).toBe(true);
  const [record] = await world.stores.keys.list(fresh.projectId);
  expect(record?.lastUsedAt).toBeInstanceOf(Date);
});

const named = { name: 'second', createdBy: 'ana' };
