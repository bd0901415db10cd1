import { type RedisAddress, withRedis } from './connect.ts';
import { redisKeys } from './keys.ts';

const batchSize = 1_000;

/**
 * Deletes all keys of an instance's runs, which can be rebuilt. Throws if Redis does not answer.
 */
export function purgeRuns({
  instance,
  ...address
}: RedisAddress & { instance: string }): Promise<void> {
  return withRedis(address, `${instance}-purge`, async (redis) => {
    const found = redis.scanStream({ match: redisKeys(instance).allRuns, count: batchSize });
    for await (const keys of found as AsyncIterable<string[]>) {
      if (keys.length > 0) await redis.unlink(...keys);
    }
  });
}
