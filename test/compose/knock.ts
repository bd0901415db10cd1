// Connects to the ingress for other hosts from the network it runs in, and prints the results.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import pg from 'pg';

export interface Caller {
  /** A host's folder, with its certificate and the addresses of the first machine. */
  bundle: string;
  /**
   * How it connects: as that host, over TLS without a certificate, with another one, or without
   * TLS.
   */
  as: 'host' | 'nobody' | 'stranger' | 'plain';
  /** Only for a client with another certificate. */
  pair?: { key: string; certificate: string };
  /** Replaces the address in the bundle. */
  address?: string;
}

/** `open`, or the error. */
export type Answers = Record<'postgres' | 'redis' | 'temporal', string>;

const withinMs = 10_000;

async function tryAll(caller: Caller): Promise<Answers> {
  const [postgres, redis, temporal] = await Promise.all(
    [tryPostgres, tryRedis, tryTemporal].map((each) => each(caller).then(() => 'open', String)),
  );
  return { postgres: String(postgres), redis: String(redis), temporal: String(temporal) };
}

async function tryPostgres(caller: Caller): Promise<void> {
  const { hostname, port, password } = urlIn(caller, 'database-url');
  const client = new pg.Client({
    host: hostname,
    port,
    user: 'flowrun',
    database: 'flowrun',
    password,
    ssl: tlsOf(caller) ?? false,
    connectionTimeoutMillis: withinMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1 from runs limit 1');
  } finally {
    // A connection that was refused may have ended already, and then emits no further event.
    void client.end().catch(() => undefined);
  }
}

async function tryRedis(caller: Caller): Promise<void> {
  const { hostname, port, password } = urlIn(caller, 'redis-url');
  const tls = tlsOf(caller);
  const redis = new Redis({
    host: hostname,
    port,
    password,
    ...(tls === undefined ? {} : { tls }),
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: withinMs,
  });
  let refusal = new Error('the connection was closed');
  redis.on('error', (error: Error) => {
    refusal = error;
  });
  try {
    // If the connection closes before an answer, the waiting read would never settle.
    const cut = once(redis, 'end').then(() => Promise.reject(refusal));
    await Promise.race([redis.connect().then(() => redis.ping()), cut]);
  } finally {
    redis.disconnect();
  }
}

async function tryTemporal(caller: Caller): Promise<void> {
  const env = readFileSync(join(caller.bundle, '../.env'), 'utf8');
  const [, host = '', port = ''] = /^TEMPORAL_ADDRESS=(.+):(\d+)$/m.exec(env) ?? [];
  const tls = tlsOf(caller);
  const pair = tls?.cert === undefined ? {} : { clientCertPair: { crt: tls.cert, key: tls.key } };
  const connection = await Connection.connect({
    address: `${caller.address ?? host}:${port}`,
    connectTimeout: withinMs,
    ...(tls === undefined ? {} : { tls: { serverRootCACertificate: tls.ca, ...pair } }),
  });
  try {
    await connection.workflowService.describeNamespace({ namespace: 'flowrun' });
  } finally {
    await connection.close();
  }
}

function urlIn({ bundle, address }: Caller, file: string) {
  const url = new URL(readFileSync(join(bundle, file), 'utf8').trim());
  return {
    hostname: address ?? url.hostname,
    port: Number(url.port),
    password: url.password,
  };
}

function tlsOf({ bundle, as, pair }: Caller) {
  if (as === 'plain') return undefined;
  const ca = readFileSync(join(bundle, 'authority.crt'));
  const own = { key: join(bundle, 'host.key'), certificate: join(bundle, 'host.crt') };
  const shown = as === 'host' ? own : pair;
  if (shown === undefined) return { ca };
  return { ca, key: readFileSync(shown.key), cert: readFileSync(shown.certificate) };
}

process.stdout.write(JSON.stringify(await tryAll(JSON.parse(process.argv[2] ?? '') as Caller)));
