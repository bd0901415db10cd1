import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { redisKeys } from '../../../../systems/redis/keys.ts';
import { createStreamSeats } from '../../../../systems/redis/stream-slots.ts';
import { lostRedis, openRedis, type RedisWorld } from '../../../support/redis-world.ts';

let world: RedisWorld;

beforeAll(async () => {
  world = await openRedis();
});
afterAll(() => world.close());

const request = (keyId: string, projectId: string) => ({ seatId: randomUUID(), keyId, projectId });

test('gives a key its 200 streams and refuses the next, until one is given back', async () => {
  const seats = createStreamSeats(world.redis, world);
  const [keyId, projectId] = [randomUUID(), randomUUID()];
  const requests = Array.from({ length: limits.streamsPerKey }, () => request(keyId, projectId));
  const answers = await Promise.all(requests.map(seats.take));
  expect(answers.every((answer) => answer?.allowed)).toBe(true);
  expect(await seats.take(request(keyId, projectId))).toEqual({
    allowed: false,
    limit: limits.streamsPerKey,
    current: limits.streamsPerKey,
  });
  expect(await seats.take(request(randomUUID(), projectId))).toEqual({ allowed: true });
  if (requests[0]) await seats.giveBack(requests[0]);
  expect(await seats.take(request(keyId, projectId))).toEqual({ allowed: true });
});

test('gives a project its 1 000 streams over all keys', async () => {
  const seats = createStreamSeats(world.redis, world);
  const projectId = randomUUID();
  const take = () => seats.take(request(randomUUID(), projectId));
  const answers = await Promise.all(Array.from({ length: limits.streamsPerProject + 5 }, take));
  const refused = answers.filter((answer) => answer?.allowed === false);
  expect(refused).toHaveLength(5);
  expect(refused[0]).toEqual({ allowed: false, limit: 1_000, current: 1_000 });
});

test('a seat that nobody renews lapses, one that is renewed stays', async () => {
  const seats = createStreamSeats(world.redis, world);
  const [keyId, projectId] = [randomUUID(), randomUUID()];
  const [left, kept] = [request(keyId, projectId), request(keyId, projectId)];
  await seats.take(left);
  await seats.take(kept);
  const key = redisKeys(world.instance).seats('key', keyId);
  await world.redis.zadd(key, '1', left.seatId, '1', kept.seatId);
  await seats.renew([kept]);
  await seats.take(request(keyId, projectId));
  expect(await world.redis.zrange(key, '0', '-1')).not.toContain(left.seatId);
  expect(await world.redis.zrange(key, '0', '-1')).toContain(kept.seatId);
  expect(await world.redis.pttl(key)).toBeLessThanOrEqual(limits.streamSeatMs);
});

test('says null while Redis is away', async () => {
  const redis = lostRedis();
  const seats = createStreamSeats(redis, world);
  const asked = request(randomUUID(), randomUUID());
  expect(await seats.take(asked)).toBeNull();
  await seats.renew([asked]);
  await seats.giveBack(asked);
  redis.disconnect();
});
