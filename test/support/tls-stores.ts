import type { Certified } from './authority.ts';
import { stackEnv } from './stack-env.ts';
import { openTlsDoor } from './tls-door.ts';

export interface TlsStores {
  /** Without what its address says of TLS. */
  postgresUrl(query: string): string;
  redisUrl: string;
  temporalAddress: string;
  close(): void;
}

export interface TlsStoresWish {
  shows: Certified;
  /** Temporal's own, where its clients are told what name to expect. */
  temporalShows?: Certified;
  /** Whose certificates are demanded; none are if not given. */
  demands?: string;
}

/** The stack's stores, each behind a door of its own. */
export async function openTlsStores(wish: TlsStoresWish): Promise<TlsStores> {
  const { temporalShows = wish.shows, ...common } = wish;
  const postgres = new URL(stackEnv.postgresUrl);
  const redis = new URL(stackEnv.redisUrl);
  const temporal = new URL(`temporal://${stackEnv.temporalAddress}`);
  const [toPostgres, toRedis, toTemporal] = await Promise.all([
    openTlsDoor({ ...common, to: Number(postgres.port), speaks: 'postgres' }),
    openTlsDoor({ ...common, to: Number(redis.port) }),
    openTlsDoor({ ...common, to: Number(temporal.port), shows: temporalShows }),
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
