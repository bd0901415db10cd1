import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiProcess, type ApiWorld, openApiWorld } from './api-world.ts';
import { caller } from './call.ts';

let world: ApiWorld;
let api: ApiProcess;

beforeAll(async () => {
  world = await openApiWorld();
  api = await world.start();
});
afterAll(() => world.close());

test('lets a key call as often as it may, then says 429 and when to come back', async () => {
  const { key } = await world.tenant({ key: { rateLimitRpm: 5 } });
  const call = caller(api, key);
  const answers = [];
  for (let i = 0; i < 5; i += 1) answers.push(await call('/api/v1/flows'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual([
    '4',
    '3',
    '2',
    '1',
    '0',
  ]);
  const refused = await call('/api/v1/flows');
  expect(refused.status).toBe(429);
  expect(refused.json).toEqual({ error: { code: 'RATE_LIMITED', message: expect.any(String) } });
  expect(refused.headers.get('content-type')).toMatch(/^application\/json/);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(12);
  expect(refused.headers.get('x-ratelimit-limit')).toBe('5');
  const reset = Number(refused.headers.get('x-ratelimit-reset')) - Date.now() / 1_000;
  expect(reset).toBeGreaterThan(40);
  expect(reset).toBeLessThanOrEqual(61);
});

test('counts every call, whatever comes of it, before it is looked at', async () => {
  const { key } = await world.tenant({ key: { rateLimitRpm: 4 } });
  const call = caller(api, key);
  expect((await call('/api/v1/unknown')).status).toBe(404);
  expect((await call('/api/v1/flows?x=1')).status).toBe(400);
  expect((await call('/api/v1/runs/none/messages', { body: {} })).status).toBe(410);
  expect((await call('/api/v1/runs/none/stream')).status).toBe(404);
  for (const path of ['/api/v1/unknown', '/api/v1/flows?x=1', '/api/v1/runs/none/messages']) {
    expect((await call(path)).status).toBe(429);
  }
});

test('keeps the buckets of two keys apart, and shares one key between two processes', async () => {
  const other = await world.start();
  const one = await world.tenant({ key: { rateLimitRpm: 3 } });
  const two = await world.tenant({ key: { rateLimitRpm: 3 } });
  const statuses = [];
  for (const process of [api, other, api, other]) {
    statuses.push((await caller(process, one.key)('/api/v1/flows')).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await caller(api, two.key)('/api/v1/flows')).status).toBe(200);
});

test('neither opens the door nor fails when Redis is gone', async () => {
  const lost = await world.start();
  const { key } = await world.tenant({ key: { rateLimitRpm: 5 } });
  expect((await caller(lost, key)('/api/v1/flows')).status).toBe(200);
  lost.redis.disconnect();
  const statuses = [];
  for (let i = 0; i < 8; i += 1) statuses.push((await caller(lost, key)('/api/v1/flows')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 429, 429]);
});
