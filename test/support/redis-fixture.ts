import { randomUUID } from 'node:crypto';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { stackEnv } from './stack-env.ts';

export interface RedisFixture {
  redis: Redis;
  instance: string;
  /** Opens another connection of the same service. */
  connect(): Promise<Redis>;
  /** The keys of this instance. */
  keys(): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens a connection with an instance label that no other test uses. */
export async function openRedis(url: string = stackEnv.redisUrl): Promise<RedisFixture> {
  const instance = `test-${randomUUID().slice(0, 12)}`;
  const opened: Redis[] = [];
  const connect = async (): Promise<Redis> => {
    const redis = connectRedis({ url, name: instance, onError: () => {} });
    opened.push(redis);
    await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
    return redis;
  };
  const redis = await connect();
  const keys = () => redis.keys(`frs:${instance}:*`);
  return {
    redis,
    instance,
    connect,
    keys,
    async close() {
      const left = await keys();
      if (left.length > 0) await redis.del(...left);
      for (const connection of opened) connection.disconnect();
    },
  };
}

/** Returns a connection to a port on which nothing listens. */
export function lostRedis(): Redis {
  return connectRedis({ url: 'redis://127.0.0.1:1/0', name: 'lost', onError: () => {} });
}
