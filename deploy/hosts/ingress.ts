// Applies a change of the allowlist to the ingress of Postgres, Redis and Temporal. Caddy reloads
// the list automatically within a second, but only a restart closes the open connections of a
// removed host.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';

interface Address {
  host: string;
  port: number;
}

/** The addresses of this machine's stores in the compose network. */
export interface IngressTargets {
  secrets: string;
  postgres: Address;
  redis: Address;
  /** The admin socket of Temporal's ingress. */
  temporalIngress: string;
}

/** Reloads all of them even if one fails. Returns the failures; safe to repeat. */
export async function reloadIngress(
  stores: IngressTargets,
  removedHost?: string,
): Promise<string[]> {
  const reloads = {
    postgres: reloadPostgres(stores, removedHost),
    redis: reloadRedis(stores, removedHost),
    ...(removedHost !== undefined && { 'temporal-ingress': stopTemporalIngress(stores) }),
  };
  const failures = Object.entries(reloads).map(([name, each]) =>
    each.then(
      () => [],
      (error: unknown) => [`${name} was not reloaded: ${String(error)}`],
    ),
  );
  return (await Promise.all(failures)).flat();
}

async function reloadPostgres(
  { secrets, postgres }: IngressTargets,
  removedHost?: string,
): Promise<void> {
  const password = readFileSync(join(secrets, 'postgres/superuser'), 'utf8').trim();
  const client = new pg.Client({ ...postgres, user: 'postgres', password });
  await client.connect();
  try {
    await client.query('select pg_reload_conf()');
    if (removedHost !== undefined) await terminateConnections(client, removedHost);
  } finally {
    await client.end();
  }
}

/**
 * A connection that is still authenticating was checked against the old allowlist and is not in
 * `pg_stat_ssl` yet. TLS and the password may take one `authentication_timeout` each, so this waits
 * for two of them and terminates again.
 */
async function terminateConnections(client: pg.Client, host: string): Promise<void> {
  const timeout = `extract(epoch from current_setting('authentication_timeout')::interval)`;
  const { rows } = await client.query<{ ms: number }>(`select (${timeout} * 1000)::int as ms`);
  const authenticatedAt = Date.now() + 2 * (rows[0]?.ms ?? 0) + 1000;
  const terminate = 'select pg_terminate_backend(pid) from pg_stat_ssl where client_dn = $1';
  for (;;) {
    const isLast = Date.now() > authenticatedAt;
    const { rowCount } = await client.query(terminate, [`/CN=${host}`]);
    if (isLast && rowCount === 0) return;
    await sleep(200);
  }
}

async function reloadRedis(
  { secrets, redis: at }: IngressTargets,
  removedHost?: string,
): Promise<void> {
  const password = readFileSync(join(secrets, 'redis/password'), 'utf8').trim();
  const redis = new Redis({ ...at, password, lazyConnect: true, retryStrategy: () => null });
  let cause: Error | undefined;
  redis.on('error', (error: Error) => {
    cause = error;
  });
  try {
    await redis.connect();
    if (removedHost === undefined)
      await redis.config('SET', 'tls-ca-cert-file', '/secrets/hosts.crt');
    else await restartRedis(redis);
  } catch (error) {
    throw cause ?? error;
  } finally {
    redis.disconnect();
  }
}

/**
 * A removed host may have changed any setting of Redis, even the certificate check, so Redis is
 * restarted with its own configuration file. It holds no data that must not be lost.
 */
async function restartRedis(redis: Redis): Promise<void> {
  const ended = new Promise<void>((resolve) => redis.once('end', () => resolve()));
  const rejected = redis.shutdown('NOSAVE', 'NOW', 'FORCE').then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Error && error.name === 'ReplyError') throw error;
      return ended;
    },
  );
  await Promise.race([ended, rejected]);
}

/**
 * Docker restarts it with the new list, and the remaining hosts reconnect. If nothing listens on
 * the socket, the ingress is not running and has no open connections.
 */
async function stopTemporalIngress({ temporalIngress: socketPath }: IngressTargets): Promise<void> {
  const stop = request({ socketPath, path: '/stop', method: 'POST' });
  stop.setTimeout(10_000, () => stop.destroy(new Error('no response')));
  stop.end();
  try {
    const [response] = (await once(stop, 'response')) as [IncomingMessage]; // what the event carries
    response.resume();
    if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOENT' || error.code === 'ECONNREFUSED');
