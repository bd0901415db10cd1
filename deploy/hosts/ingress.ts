// Tells the entrances that the list has changed. Caddy sees it by itself, within a second, and has to be
// told for the sake of what a host holds open there.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';

export interface Address {
  host: string;
  port: number;
}

/** Where this machine's own parts reach its stores. */
export interface IngressTargets {
  secrets: string;
  postgres: Address;
  redis: Address;
  /** The socket by which the entrance of Temporal takes orders. */
  temporalIngress: string;
}

/** Each is told whatever becomes of the other. Returns what went wrong; repeating it does no harm. */
export async function reloadIngress(stores: IngressTargets, shutOut?: string): Promise<string[]> {
  const told = {
    postgres: reloadPostgres(stores, shutOut),
    redis: reloadRedis(stores, shutOut),
    ...(shutOut !== undefined && { 'temporal-ingress': stopTemporalIngress(stores) }),
  };
  const failures = Object.entries(told).map(([name, each]) =>
    each.then(
      () => [],
      (error: unknown) => [`${name} was not told: ${String(error)}`],
    ),
  );
  return (await Promise.all(failures)).flat();
}

async function reloadPostgres(
  { secrets, postgres }: IngressTargets,
  shutOut?: string,
): Promise<void> {
  const password = readFileSync(join(secrets, 'postgres/superuser'), 'utf8').trim();
  const client = new pg.Client({ ...postgres, user: 'postgres', password });
  await client.connect();
  try {
    await client.query('select pg_reload_conf()');
    if (shutOut !== undefined) await terminateConnections(client, shutOut);
  } finally {
    await client.end();
  }
}

/**
 * Whoever was on the way in goes by the list of that moment: Postgres gives him its timeout for TLS and
 * once more for the password, and shows nothing of him before.
 */
async function terminateConnections(client: pg.Client, host: string): Promise<void> {
  const timeout = `extract(epoch from current_setting('authentication_timeout')::interval)`;
  const { rows } = await client.query<{ ms: number }>(`select (${timeout} * 1000)::int as ms`);
  const nobodyIsOnTheWayAt = Date.now() + 2 * (rows[0]?.ms ?? 0) + 1000;
  const held = 'select pg_terminate_backend(pid) from pg_stat_ssl where client_dn = $1';
  for (;;) {
    const isOver = Date.now() > nobodyIsOnTheWayAt;
    const { rowCount } = await client.query(held, [`/CN=${host}`]);
    if (isOver && rowCount === 0) return;
    await sleep(200);
  }
}

async function reloadRedis(
  { secrets, redis: at }: IngressTargets,
  shutOut?: string,
): Promise<void> {
  const password = readFileSync(join(secrets, 'redis/password'), 'utf8').trim();
  const redis = new Redis({ ...at, password, lazyConnect: true, retryStrategy: () => null });
  let cause: Error | undefined;
  redis.on('error', (error: Error) => {
    cause = error;
  });
  try {
    await redis.connect();
    if (shutOut === undefined) await redis.config('SET', 'tls-ca-cert-file', '/secrets/hosts.crt');
    else await restartRedis(redis);
  } catch (error) {
    throw cause ?? error;
  } finally {
    redis.disconnect();
  }
}

/**
 * A host may change any setting of Redis, who is asked for a certificate among them. It ends, and its
 * engine starts it again by its own file and the list; it holds nothing that cannot be lost.
 */
async function restartRedis(redis: Redis): Promise<void> {
  const ended = new Promise<void>((resolve) => redis.once('end', () => resolve()));
  const refused = redis.shutdown('NOSAVE', 'NOW', 'FORCE').then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Error && error.name === 'ReplyError') throw error;
      return ended;
    },
  );
  await Promise.race([ended, refused]);
}

/**
 * Its engine starts it again by the list; whoever stays on that comes again. One that nobody listens at
 * is not there, and holds nothing open.
 */
async function stopTemporalIngress({ temporalIngress: socketPath }: IngressTargets): Promise<void> {
  const order = request({ socketPath, path: '/stop', method: 'POST' });
  order.setTimeout(10_000, () => order.destroy(new Error('it does not answer')));
  order.end();
  try {
    const [answer] = (await once(order, 'response')) as [IncomingMessage]; // what the event carries
    answer.resume();
    if (answer.statusCode !== 200) throw new Error(`it answers ${answer.statusCode}`);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOENT' || error.code === 'ECONNREFUSED');
