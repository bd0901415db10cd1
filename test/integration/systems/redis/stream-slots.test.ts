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
  expect(await seats.claim(request(randomUUID(), projectId))).toEqual({ allowed: true });
  if (requests[0]) await seats.release(requests[0]);
  expect(await seats.claim(request(keyId, projectId))).toEqual({ allowed: true });
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
  await seats.renew([slotRequest]);
  await seats.release(slotRequest);
  redis.disconnect();
});
