import { connectRedis, type Redis, type RedisAddress } from './connect.ts';

/** Opens a connection for one piece of work. Throws if Redis does not answer. */
export async function withRedis<T>(
  address: RedisAddress,
  name: string,
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const redis = connectRedis({ ...address, name, onError: () => undefined });
  try {
    await new Promise<void>((resolve, reject) => {
      redis.once('ready', resolve);
      redis.once('error', reject);
    });
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
