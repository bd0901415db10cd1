import { isIP } from 'node:net';
import { Redis } from 'ioredis';
import { limits } from '../../core/limits.ts';

export type { Redis } from 'ioredis';

/** Where Redis is; with a rediss:// address, what is trusted there and what is shown, in PEM. */
export interface RedisAddress {
  url: string;
  tls?: { ca?: string; cert?: string; key?: string };
}

export interface RedisConnectOptions extends RedisAddress {
  /** As `CLIENT LIST` shows the connection. */
  name: string;
  onError: (error: Error) => void;
}

/**
 * A connection that refuses at once what it cannot do now: nothing waits in a queue while Redis is
 * away, since everything in it can be made again from Postgres. It comes back by itself.
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
    commandTimeout: limits.redisCommandTimeoutMs,
    connectTimeout: limits.redisCommandTimeoutMs,
    retryStrategy: (attempt) => Math.min(50 * attempt, limits.redisReconnectMaxMs),
  });
  reportErrors(redis, (error) => {
    onError(overTls && redis.status !== 'ready' ? tlsError(error) : error);
  });
  return redis;
}

/** A connection that was ended before it was of any use is one, too: the client connects again without a word. */
function reportErrors(redis: Redis, onError: (error: Error) => void): void {
  let isTold = true;
  redis.on('connect', () => (isTold = false));
  redis.on('ready', () => (isTold = true));
  redis.on('error', (error) => {
    isTold = true;
    onError(error);
  });
  redis.on('close', () => {
    if (!isTold && redis.status !== 'end') onError(new Error('it ended the connection at once'));
    isTold = true;
  });
}

/** Proxies in front of managed stores go by it. An address that is a number must not be one. */
function serverName(url: string): { servername?: string } {
  const { hostname } = new URL(url);
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 ? { servername: hostname } : {};
}

/**
 * A server looks at a certificate when the client takes itself for connected and speaks already: what it
 * says of it is lost with the connection.
 */
function tlsError(error: Error): Error {
  const isCut = !('code' in error) || error.code === 'ECONNRESET';
  const guess = isCut ? ': it may refuse the certificate that it is shown, or demand one' : '';
  return new Error(`no TLS connection to Redis: ${error.message}${guess}`, { cause: error });
}
