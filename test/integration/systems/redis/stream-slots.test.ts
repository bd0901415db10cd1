import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { redisKeys } from '../../../../systems/redis/keys.ts';
import { createStreamSlots } from '../../../../systems/redis/stream-slots.ts';
import { lostRedis, openRedis, type RedisFixture } from '../../../support/redis-fixture.ts';

let fixture: RedisFixture;

beforeAll(async () => {
  fixture = await openRedis();
});
afterAll(() => fixture.close());

const request = (keyId: string, projectId: string) => ({ slotId: randomUUID(), keyId, projectId });

test('limits a key to 200 streams, until one is released', async () => {
  const seats = createStreamSlots(fixture.redis, fixture);
  const [keyId, projectId] = [randomUUID(), randomUUID()];
  const requests = Array.from({ length: limits.stream.perKey }, () => request(keyId, projectId));
  const answers = await Promise.all(requests.map(seats.claim));
  expect(answers.every((answer) => answer?.allowed)).toBe(true);
  expect(await seats.claim(request(keyId, projectId))).toEqual({
    allowed: false,
    limit: limits.stream.perKey,
    current: limits.stream.perKey,
  });
  const ofOther = await seats.claim(request(randomUUID(), projectId));
  expect(ofOther).toEqual({ allowed: true, openOfKey: 1 });
  if (requests[0]) await seats.release(requests[0]);
  expect(await seats.claim(request(keyId, projectId))).toEqual({
    allowed: true,
    openOfKey: limits.stream.perKey,
  });
});

test('counts the open streams of a key over all processes, without expired ones', async () => {
  const [one, two] = [0, 1].map(() => createStreamSlots(fixture.redis, fixture));
  const [keyId, projectId] = [randomUUID(), randomUUID()];
  const [first, second, third] = [0, 1, 2].map(() => request(keyId, projectId));
  if (!one || !two || !first || !second || !third) throw new Error('not made');
  expect(await one.claim(first)).toMatchObject({ openOfKey: 1 });
  expect(await two.claim(second)).toMatchObject({ openOfKey: 2 });
  await two.claim(third);
  expect(await one.renew([first])).toEqual(new Map([[keyId, 3]]));
  const key = redisKeys(fixture.instance).streamSlots('key', keyId);
  await fixture.redis.zadd(key, '1', third.slotId);
  expect(await one.renew([first])).toEqual(new Map([[keyId, 2]]));
});

test('reserves time for reconnects of a key, one after the other over all processes', async () => {
  const slots = createStreamSlots(fixture.redis, fixture);
  const keyId = randomUUID();
  const begins = await Promise.all(
    Array.from({ length: 3 }, () => slots.reserveReconnects(keyId, 10_000)),
  );
  for (const [n, beginMs] of begins.sort((a, b) => a - b).entries()) {
    expect(beginMs).toBeLessThanOrEqual(n * 10_000);
    expect(beginMs).toBeGreaterThan(n * 10_000 - 2_000);
  }
  expect(await slots.reserveReconnects(randomUUID(), 0.1)).toBe(0);
  const key = redisKeys(fixture.instance).reconnects(keyId);
  expect(await fixture.redis.pttl(key)).toBeLessThanOrEqual(30_000);
  for (let n = 0; n < 2; n += 1)
    await slots.reserveReconnects(keyId, 2 * limits.stream.reconnectMaxMs);
  expect(await slots.reserveReconnects(keyId, 1)).toBe(limits.stream.reconnectMaxMs);
});

test('limits a project to 1 000 streams across its keys', async () => {
  const seats = createStreamSlots(fixture.redis, fixture);
  const projectId = randomUUID();
  const take = () => seats.claim(request(randomUUID(), projectId));
  const answers = await Promise.all(Array.from({ length: limits.stream.perProject + 5 }, take));
  const refused = answers.filter((answer) => answer?.allowed === false);
  expect(refused).toHaveLength(5);
  expect(refused[0]).toEqual({ allowed: false, limit: 1_000, current: 1_000 });
});

test('a slot expires unless renewed', async () => {
  const seats = createStreamSlots(fixture.redis, fixture);
  const [keyId, projectId] = [randomUUID(), randomUUID()];
  const [left, kept] = [request(keyId, projectId), request(keyId, projectId)];
  await seats.claim(left);
  await seats.claim(kept);
  const key = redisKeys(fixture.instance).streamSlots('key', keyId);
  await fixture.redis.zadd(key, '1', left.slotId, '1', kept.slotId);
  await seats.renew([kept]);
  await seats.claim(request(keyId, projectId));
  expect(await fixture.redis.zrange(key, '0', '-1')).not.toContain(left.slotId);
  expect(await fixture.redis.zrange(key, '0', '-1')).toContain(kept.slotId);
  expect(await fixture.redis.pttl(key)).toBeLessThanOrEqual(limits.stream.slotTtlMs);
});

test('returns null while Redis is down', async () => {
  const redis = lostRedis();
  const seats = createStreamSlots(redis, fixture);
  const slotRequest = request(randomUUID(), randomUUID());
  expect(await seats.claim(slotRequest)).toBeNull();
  expect(await seats.renew([slotRequest])).toEqual(new Map());
  expect(await seats.reserveReconnects(slotRequest.keyId, 10_000)).toBe(0);
  await seats.release(slotRequest);
  redis.disconnect();
});
