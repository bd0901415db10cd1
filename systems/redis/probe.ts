import { once } from 'node:events';
import { limits } from '../../core/limits.ts';
import { connectRedis, type Redis, type RedisAddress } from './connect.ts';

/** Throws where Redis does not answer; null where it answers, but not to this question. */
export async function redisVersion(redis: Redis): Promise<string | null> {
  await redis.ping();
  const info = await redis.info('server').catch(() => '');
  return /^redis_version:(\S+)/m.exec(info)?.[1] ?? null;
}

/** By a connection of its own; what went wrong with that is thrown. */
export async function probeRedis(address: RedisAddress): Promise<string | null> {
  let trouble = new Error('Redis does not answer in time');
  const onError = (error: Error) => {
    trouble = error;
  };
  const redis = connectRedis({ ...address, name: 'flowrun-doctor', onError });
  try {
    const signal = AbortSignal.timeout(limits.readinessTimeoutMs);
    if (redis.status !== 'ready') await once(redis, 'ready', { signal });
    return await redisVersion(redis);
  } catch {
    throw trouble;
  } finally {
    redis.disconnect();
  }
}
