import { omitUndefined } from '../core/omit-undefined.ts';
import { redisMaxMemory } from '../core/redis-memory.ts';
import { ConfigError } from './config-error.ts';
import { type Environment, readVariables } from './environment.ts';
import { pairError } from './tls/pem.ts';
import { serviceVariables, workerVariables } from './variables.ts';

const { REDIS_URL, REDIS_TLS_CA, REDIS_TLS_CERT, REDIS_TLS_KEY } = serviceVariables;
export const redisVariables = { REDIS_URL, REDIS_TLS_CA, REDIS_TLS_CERT, REDIS_TLS_KEY };

export interface RedisConfig {
  url: string;
  /** PEM: the trusted authority instead of the public ones, and the client certificate. */
  tls: { ca?: string; cert?: string; key?: string };
}

interface Read {
  REDIS_URL: string;
  REDIS_TLS_CA?: string | undefined;
  REDIS_TLS_CERT?: string | undefined;
  REDIS_TLS_KEY?: string | undefined;
}

/** Throws a ConfigError if the settings contradict each other. */
export function redisConfig(read: Read): RedisConfig {
  const message = contradiction(read);
  if (message !== null) throw new ConfigError(message);
  const { REDIS_URL: url, REDIS_TLS_CA: ca, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: key } = read;
  return { url, tls: omitUndefined({ ca, cert, key }) };
}

/** The `maxmemory` of a Redis for the slots of this machine. Throws a ConfigError. */
export function readRedisMaxMemory(env: Environment = process.env): string {
  const { HOST_CAPACITY } = workerVariables;
  return redisMaxMemory(readVariables(env, { HOST_CAPACITY }).HOST_CAPACITY);
}

function contradiction(read: Read): string | null {
  const { REDIS_URL: url, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: key } = read;
  const names = ['REDIS_TLS_CA', 'REDIS_TLS_CERT', 'REDIS_TLS_KEY'] as const;
  const set = names.find((name) => read[name] !== undefined);
  if (set !== undefined && new URL(url).protocol !== 'rediss:')
    return `REDIS_URL is wrong: expected a rediss:// address, since ${set} is set`;
  const pair = { cert: cert ?? null, key: key ?? null };
  return pairError(pair, { cert: 'REDIS_TLS_CERT', key: 'REDIS_TLS_KEY' });
}
