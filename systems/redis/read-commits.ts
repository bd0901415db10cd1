import type { CommitsInRedis } from '../../core/hosts/commits-in-redis.ts';
import { type Redis, type RedisAddress, withRedis } from './connect.ts';
import { redisKeys } from './keys.ts';

const batchSize = 1_000;

/** Throws if Redis does not answer. */
export function readCommits({
  instance,
  ...address
}: RedisAddress & { instance: string }): Promise<CommitsInRedis> {
  return withRedis(address, `${instance}-commits`, async (redis) => ({
    acceptedIds: await redis.zrange(redisKeys(instance).accepted, '0', '-1'),
    lastFrames: await readLastFrames(redis, instance),
  }));
}

async function readLastFrames(
  redis: Redis,
  instance: string,
): Promise<CommitsInRedis['lastFrames']> {
  const match = redisKeys(instance).frames('*');
  const [before = '', after = ''] = match.split('*');
  const lastFrames: CommitsInRedis['lastFrames'] = [];
  const found = redis.scanStream({ match, count: batchSize });
  for await (const keys of found as AsyncIterable<string[]>) {
    const ids = await Promise.all(keys.map((key) => lastId(redis, key)));
    ids.forEach((id, at) => {
      const runId = keys[at]?.slice(before.length, -after.length);
      if (id !== null && runId !== undefined) lastFrames.push({ runId, seq: seqOf(id) });
    });
  }
  return lastFrames;
}

/** Null if the stream has expired meanwhile. */
async function lastId(redis: Redis, key: string): Promise<string | null> {
  const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
  return last?.[0] ?? null;
}

/** Of `<seq>-<n>`. */
const seqOf = (id: string): number => Number.parseInt(id, 10);
