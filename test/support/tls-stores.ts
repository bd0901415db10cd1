import type { Certified } from './authority.ts';
import { stackEnv } from './stack-env.ts';
import { openTlsProxy } from './tls-proxy.ts';

export interface TlsStores {
  /** Without what its address says of TLS. */
  postgresUrl(query: string): string;
  redisUrl: string;
  temporalAddress: string;
  close(): void;
}

export interface TlsStoresOptions {
  shows: Certified;
  /** The name in Temporal's certificate, if its clients are configured to expect one. */
  temporalShows?: Certified;
  /** Whose certificates are demanded; none are if not given. */
  demands?: string;
}

/** The stack's stores, each behind a TLS proxy. */
export async function openTlsStores(wish: TlsStoresOptions): Promise<TlsStores> {
  const { temporalShows = wish.shows, ...common } = wish;
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
    close: () => [toPostgres, toRedis, toTemporal].forEach((door) => door.close()),
  };
}
