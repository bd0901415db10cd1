import { isIP } from 'node:net';
import { Redis } from 'ioredis';
import { limits } from '../../core/limits.ts';

export type { Redis } from 'ioredis';

/** With a rediss:// URL, `tls` holds the CA and the client certificate, in PEM. */
export interface RedisAddress {
  url: string;
  tls?: { ca?: string; cert?: string; key?: string };
}

interface RedisConnectOptions extends RedisAddress {
  /** Shown by `CLIENT LIST`. */
  name: string;
  onError: (error: Error) => void;
}

/**
 * Commands fail at once while Redis is down instead of queueing, because everything in Redis can be
 * rebuilt from Postgres. Reconnects automatically.
 */
export function connectRedis({ url, tls, name, onError }: RedisConnectOptions): Redis {
  const overTls = new URL(url).protocol === 'rediss:';
  const redis = new Redis(url, {
    ...(overTls && { tls: { ...tls, ...serverName(url) } }),
    connectionName: name,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: limits.redis.commandTimeoutMs,
    connectTimeout: limits.redis.commandTimeoutMs,
    retryStrategy: (attempt) => Math.min(50 * attempt, limits.redis.reconnectMaxMs),
  });
  reportErrors(redis, (error) => {
    onError(overTls && redis.status !== 'ready' ? tlsError(error) : error);
  });
  return redis;
}

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

/** Also reports a connection that closes before it is ready: the client retries that silently. */
function reportErrors(redis: Redis, onError: (error: Error) => void): void {
  let isReported = true;
  redis.on('connect', () => (isReported = false));
  redis.on('ready', () => (isReported = true));
  redis.on('error', (error) => {
    isReported = true;
    onError(error);
  });
  redis.on('close', () => {
    if (!isReported && redis.status !== 'end')
      onError(new Error('the server closed the connection at once'));
    isReported = true;
  });
}

/** Proxies of managed stores route by SNI. An IP address is not allowed there. */
function serverName(url: string): { servername?: string } {
  const { hostname } = new URL(url);
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 ? { servername: hostname } : {};
}

/**
 * The server checks the client certificate after the client considers itself connected, so the
 * reason for a rejection is lost with the connection.
 */
function tlsError(error: Error): Error {
  const isClosed = !('code' in error) || error.code === 'ECONNRESET';
  const guess = isClosed ? ': the server may require a client certificate, or reject this one' : '';
  return new Error(`no TLS connection to Redis: ${error.message}${guess}`, { cause: error });
}
