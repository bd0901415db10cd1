import type { Certified } from './authority.ts';
import { stackEnv } from './stack-env.ts';
import { openTlsProxy } from './tls-proxy.ts';

export interface TlsStores {
  /** `query` contains the TLS settings. */
  postgresUrl(query: string): string;
  redisUrl: string;
  temporalAddress: string;
  close(): void;
}

export interface TlsStoresOptions {
  shows: Certified;
  /** The name in Temporal's certificate, if its clients are configured to expect one. */
  temporalShows?: Certified;
  /** The authority of the client certificates they demand. Without it, none are demanded. */
  demands?: string;
}

/** The stack's stores, each behind a TLS proxy. */
export async function openTlsStores(options: TlsStoresOptions): Promise<TlsStores> {
  const { temporalShows = options.shows, ...common } = options;
  const postgres = new URL(stackEnv.postgresUrl);
  const redis = new URL(stackEnv.redisUrl);
  const temporal = new URL(`temporal://${stackEnv.temporalAddress}`);
  const [toPostgres, toRedis, toTemporal] = await Promise.all([
    openTlsProxy({ ...common, to: Number(postgres.port), speaks: 'postgres' }),
    openTlsProxy({ ...common, to: Number(redis.port) }),
    openTlsProxy({ ...common, to: Number(temporal.port), shows: temporalShows }),
  ]);
  return {
    postgresUrl(query) {
      const url = new URL(`${stackEnv.postgresUrl}${query}`);
      url.host = `127.0.0.1:${toPostgres.port}`;
      return url.href;
    },
    redisUrl: `rediss://${redis.username}:${redis.password}@127.0.0.1:${toRedis.port}${redis.pathname}`,
    temporalAddress: `127.0.0.1:${toTemporal.port}`,
    close: () => [toPostgres, toRedis, toTemporal].forEach((proxy) => proxy.close()),
  };
}
