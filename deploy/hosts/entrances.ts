// Tells the entrances that the list has changed. Caddy sees it by itself, within a second; what a host
// holds open there ends with its next answer, a minute later at the most.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';

/** As Redis names the port that a connection came to, in its list. */
const byTls = / laddr=\S+:6380 /;

export interface Told {
  secrets: string;
  /** Whose connections are to end. */
  shutOut?: string;
}

export async function tellEntrances(told: Told): Promise<void> {
  await tellPostgres(told);
  await tellRedis(told);
}

async function tellPostgres({ secrets, shutOut }: Told): Promise<void> {
  const password = readFileSync(join(secrets, 'postgres/superuser'), 'utf8').trim();
  const client = new pg.Client({ host: 'postgres', user: 'postgres', password });
  await client.connect();
  try {
    await client.query('select pg_reload_conf()');
    if (shutOut !== undefined) await endConnections(client, shutOut);
  } finally {
    await client.end();
  }
}

/** The new list is read a moment after it was asked for, and until then a host comes in again. */
async function endConnections(client: pg.Client, host: string): Promise<void> {
  const held = 'select pg_terminate_backend(pid) from pg_stat_ssl where client_dn = $1';
  for (let quiet = 0; quiet < 3; ) {
    const { rowCount } = await client.query(held, [`/CN=${host}`]);
    quiet = rowCount === 0 ? quiet + 1 : 0;
    await sleep(200);
  }
}

/** Redis does not say whose certificate a connection showed: all that came in by TLS come again. */
async function tellRedis({ secrets, shutOut }: Told): Promise<void> {
  const password = readFileSync(join(secrets, 'redis/password'), 'utf8').trim();
  const redis = new Redis({
    host: 'redis',
    password,
    lazyConnect: true,
    retryStrategy: () => null,
  });
  try {
    await redis.connect();
    await redis.config('SET', 'tls-ca-cert-file', '/secrets/hosts.crt');
    if (shutOut === undefined) return;
    const clients = String(await redis.client('LIST')).split('\n');
    for (const client of clients.filter((line) => byTls.test(line))) {
      const id = /^id=(\d+)/.exec(client)?.[1];
      if (id !== undefined) await redis.client('KILL', 'ID', id);
    }
  } finally {
    redis.disconnect();
  }
}
