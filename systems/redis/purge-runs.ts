import { connectRedis, type RedisAddress } from './connect.ts';
import { redisKeys } from './keys.ts';

const batchSize = 1_000;

/** Deletes all keys of an instance's runs, which can be rebuilt. Throws if Redis does not answer. */
export async function purgeRuns({
  instance,
  ...address
}: RedisAddress & { instance: string }): Promise<void> {
  const name = `${instance}-purge`;
  const redis = connectRedis({ ...address, name, onError: () => undefined });
  try {
    await new Promise<void>((resolve, reject) => {
      redis.once('ready', resolve);
      redis.once('error', reject);
    });
    const found = redis.scanStream({ match: redisKeys(instance).allRuns, count: batchSize });
    for await (const keys of found as AsyncIterable<string[]>) {
      if (keys.length > 0) await redis.unlink(...keys);
    }
  } finally {
    redis.disconnect();
  }
}
