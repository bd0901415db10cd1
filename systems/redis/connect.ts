import { Redis } from 'ioredis';
import { limits } from '../../core/limits.ts';

export type { Redis } from 'ioredis';

export interface RedisConnectOptions {
  url: string;
  /** As `CLIENT LIST` shows the connection. */
  name: string;
  onError: (error: Error) => void;
}

/**
 * A connection that refuses at once what it cannot do now: nothing waits in a queue while Redis is
 * away, since everything in it can be made again from Postgres. It comes back by itself.
 */
export function connectRedis({ url, name, onError }: RedisConnectOptions): Redis {
  const redis = new Redis(url, {
    connectionName: name,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: limits.redisCommandTimeoutMs,
    connectTimeout: limits.redisCommandTimeoutMs,
    retryStrategy: (attempt) => Math.min(50 * attempt, limits.redisReconnectMaxMs),
  });
  redis.on('error', onError);
  return redis;
}
