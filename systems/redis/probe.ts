import { once } from 'node:events';
import { limits } from '../../core/limits.ts';
import { connectRedis, type Redis, type RedisAddress } from './connect.ts';

/** Throws if Redis does not answer; null if it does not allow INFO. */
export async function redisVersion(redis: Redis): Promise<string | null> {
  await redis.ping();
  const info = await redis.info('server').catch(() => '');
  return /^redis_version:(\S+)/m.exec(info)?.[1] ?? null;
}

/** Uses a new connection and throws that connection's error. */
export async function probeRedis<T>(
  address: RedisAddress,
  ask: (redis: Redis) => Promise<T>,
): Promise<T> {
  let lastError = new Error('Redis does not answer in time');
  const onError = (error: Error) => {
    lastError = error;
  };
  const redis = connectRedis({ ...address, name: 'flowrun-doctor', onError });
  try {
    const signal = AbortSignal.timeout(limits.http.readinessTimeoutMs);
    if (redis.status !== 'ready') await once(redis, 'ready', { signal });
    return await ask(redis);
  } catch {
    throw lastError;
  } finally {
    redis.disconnect();
  }
}
