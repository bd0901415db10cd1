import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRateLimiter } from '../../../../systems/redis/rate-limit.ts';
import { lostRedis, openRedis, type RedisFixture } from '../../../support/redis-fixture.ts';

let fixture: RedisFixture;
const nowMs = () => performance.timeOrigin + performance.now();

beforeAll(async () => {
  fixture = await openRedis();
});
afterAll(() => fixture.close());

test('allows a burst of one minute, then rejects with a retry time', async () => {
  const limiter = createRateLimiter(fixture.redis, { instance: fixture.instance, nowMs });
  const keyId = randomUUID();
  const answers = [];
  for (let i = 0; i < 61; i += 1) answers.push(await limiter.take(keyId, 60));
  expect(answers.slice(0, 60).every((answer) => answer.allowed)).toBe(true);
  expect(answers[0]).toMatchObject({ limit: 60, remaining: 59 });
  const last = answers[60];
  expect(last).toMatchObject({ allowed: false, limit: 60, remaining: 0, retryAfterSeconds: 1 });
  const resetIn = (last?.resetAtSeconds ?? 0) - nowMs() / 1_000;
  expect(resetIn).toBeGreaterThan(58);
  expect(resetIn).toBeLessThanOrEqual(61);
});

test('shares one bucket between two processes', async () => {
  const options = { instance: fixture.instance, nowMs };
  const one = createRateLimiter(fixture.redis, options);
  const other = createRateLimiter(await fixture.connect(), options);
  const keyId = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? one : other).take(keyId, 100)),
  );
  expect(answers.filter((answer) => answer.allowed)).toHaveLength(100);
});

test('refills one token per second at 60 per minute', async () => {
  let clock = nowMs();
  const redis = lostRedis();
  const limiter = createRateLimiter(redis, { instance: fixture.instance, nowMs: () => clock });
  const keyId = randomUUID();
  for (let i = 0; i < 60; i += 1) await limiter.take(keyId, 60);
  expect((await limiter.take(keyId, 60)).allowed).toBe(false);
  clock += 999;
  expect((await limiter.take(keyId, 60)).allowed).toBe(false);
  clock += 1;
  expect((await limiter.take(keyId, 60)).allowed).toBe(true);
  expect((await limiter.take(keyId, 60)).allowed).toBe(false);
  redis.disconnect();
});

test('still limits when Redis has lost its data or is down', async () => {
  const redis = await fixture.connect();
  const limiter = createRateLimiter(redis, { instance: fixture.instance, nowMs });
  const keyId = randomUUID();
  let allowed = 0;
  const began = nowMs();
  const call = async () => {
    if ((await limiter.take(keyId, 30)).allowed) allowed += 1;
  };
  for (let i = 0; i < 20; i += 1) await call();
  await fixture.redis.del(...(await fixture.keys()));
  for (let i = 0; i < 20; i += 1) await call();
  redis.disconnect();
  for (let i = 0; i < 20; i += 1) await call();
  expect(allowed).toBeGreaterThanOrEqual(30);
  const refilled = Math.ceil(((nowMs() - began) * 30) / 60_000);
  expect(allowed).toBeLessThanOrEqual(30 + refilled);
});

test('the bucket in Redis expires', async () => {
  const limiter = createRateLimiter(fixture.redis, { instance: fixture.instance, nowMs });
  const keyId = randomUUID();
  await limiter.take(keyId, 60);
  const ttl = await fixture.redis.pttl(`frs:${fixture.instance}:bucket:${keyId}`);
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThan(3_000);
});
