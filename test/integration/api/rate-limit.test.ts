import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Answer, caller } from './call.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();

test("answers 429 with Retry-After beyond the key's rate", async () => {
  const { key } = await fixture.tenant({ key: { rateLimitRpm: 5 } });
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

test('counts every call before validating it', async () => {
  const { key } = await fixture.tenant({ key: { rateLimitRpm: 4 } });
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
  const other = await fixture.start();
  const one = await fixture.tenant({ key: { rateLimitRpm: 3 } });
  const two = await fixture.tenant({ key: { rateLimitRpm: 3 } });
  const statuses = [];
  for (const process of [api, other, api, other]) {
    statuses.push((await caller(process, one.key)('/api/v1/flows')).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await caller(api, two.key)('/api/v1/flows')).status).toBe(200);
});

test('enforces the rate over a hundred concurrent calls on two processes', async () => {
  const other = await fixture.start();
  const { key } = await fixture.tenant({ key: { rateLimitRpm: 40 } });
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => caller(i % 2 ? api : other, key)('/api/v1/flows')),
  );
  const passed = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect(passed.length + refused.length).toBe(100);
  expect(passed.length).toBeGreaterThanOrEqual(40);
  expect(passed.length).toBeLessThanOrEqual(40 + refilledSince(began, 40));
  for (const { headers, json } of refused) {
    expect(json.error.code).toBe('RATE_LIMITED');
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
    expect(headers.get('retry-after')).toMatch(/^[12]$/);
  }
});

test('refills without steps: after Retry-After a call passes, and not ten', async () => {
  const { key } = await fixture.tenant({ key: { rateLimitRpm: 60 } });
  const call = caller(api, key);
  const burst = await Promise.all(Array.from({ length: 60 }, () => call('/api/v1/flows')));
  expect(burst.every(({ status }) => status === 200)).toBe(true);
  // Uses up what refilled during the burst.
  let refused = await call('/api/v1/flows');
  while (refused.status !== 429) refused = await call('/api/v1/flows');
  const emptyAt = performance.now();
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBe(1);
  await sleep(seconds * 1_000);
  const after = await Promise.all(Array.from({ length: 10 }, () => call('/api/v1/flows')));
  const passed = after.filter(({ status }) => status === 200).length;
  expect(passed).toBeGreaterThanOrEqual(1);
  expect(passed).toBeLessThanOrEqual(refilledSince(emptyAt, 60));
});

/** The most calls that can have been refilled by now, including a partial one. */
const refilledSince = (thenMs: number, perMinute: number): number =>
  Math.floor(((performance.now() - thenMs) * perMinute) / 60_000) + 1;

test('supports rates from 1 to 10 000 per minute', async () => {
  const slow = await fixture.tenant({ key: { rateLimitRpm: 1 } });
  const call = caller(api, slow.key);
  expect((await call('/api/v1/flows')).status).toBe(200);
  const refused = await call('/api/v1/flows');
  expect(refused.status).toBe(429);
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThanOrEqual(55);
  expect(wait).toBeLessThanOrEqual(60);
  const fast = await fixture.tenant({ key: { rateLimitRpm: 10_000 } });
  const { headers } = await caller(api, fast.key)('/api/v1/flows');
  expect(headers.get('x-ratelimit-limit')).toBe('10000');
  expect(headers.get('x-ratelimit-remaining')).toBe('9999');
  for (const rateLimitRpm of [0, 10_001]) {
    await expect(fixture.tenant({ key: { rateLimitRpm } })).rejects.toThrow();
  }
});

test('rejects every kind of call over the rate, and starts nothing', async () => {
  const { key, flowId } = await fixture.tenant({ key: { rateLimitRpm: 1 } });
  const call = caller(api, key);
  await call('/api/v1/flows');
  const before = fixture.asked.started.length;
  const trigger = await call(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } });
  expect([trigger.status, trigger.json.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect((await call(`/api/v1/runs/${flowId}/stream`)).status).toBe(429);
  expect(fixture.asked.started).toHaveLength(before);
});

test('keeps limiting when Redis is unreachable', async () => {
  const lost = await fixture.start();
  const { key } = await fixture.tenant({ key: { rateLimitRpm: 5 } });
  expect((await caller(lost, key)('/api/v1/flows')).status).toBe(200);
  lost.redis.disconnect();
  const answers: Answer[] = [];
  for (let i = 0; i < 8; i += 1) answers.push(await caller(lost, key)('/api/v1/flows'));
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 429, 429]);
  const headerValues = (name: string) =>
    answers.map(({ headers }) => headers.get(`x-ratelimit-${name}`));
  expect(new Set(headerValues('limit'))).toEqual(new Set(['5']));
  expect(headerValues('remaining')).toEqual(['3', '2', '1', '0', '0', '0', '0', '0']);
  for (const reset of headerValues('reset'))
    expect(Number(reset)).toBeGreaterThan(Date.now() / 1_000 - 60);
  expect(answers.at(-1)?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
});
