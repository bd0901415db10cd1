import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommitsInRedis } from '../../../../core/hosts/commits-in-redis.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import {
  createLossStore,
  type KnownDatabase,
} from '../../../../systems/postgres/hosts/known-database.ts';
import { createLossDetector } from '../../../../worker/host/detect-loss.ts';
import { useDatabase } from '../../../support/use-database.ts';

const database = useDatabase();
const never = new AbortController().signal;
const folders: string[] = [];
let lines: string[];
let purges: number;
let readCommits: () => Promise<CommitsInRedis>;
beforeEach(async () => {
  lines = [];
  purges = 0;
  readCommits = async () => ({ acceptedIds: [], lastFrames: [] });
  await database.pool.query('truncate hosts, host_leases, restores');
});
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A host as its worker sees it. `restart` reads its data folder again. */
function newHost(hostId = randomUUID()) {
  const dataDir = mkdtempSync(join(tmpdir(), 'losses-'));
  folders.push(dataDir);
  const hosts = createHostStore(database.pool);
  const restart = () =>
    createLossDetector({
      losses: createLossStore(database.pool),
      hostId,
      dataDir,
      readCommits: () => readCommits(),
      redisTimeoutMs: 500,
      purgeStreams: async () => void (purges += 1),
      logger: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    });
  let losses = restart();
  const file = join(dataDir, 'database.json');
  return {
    hostId,
    dataDir,
    check: () => losses.check(never),
    restart() {
      losses = restart();
    },
    /** As if Postgres was started again after the last heartbeat. */
    restartPostgres() {
      const known = JSON.parse(readFileSync(file, 'utf8')) as KnownDatabase;
      const serverStartedMs = known.serverStartedMs - 1;
      writeFileSync(file, JSON.stringify({ ...known, serverStartedMs }));
      losses = restart();
    },
    /** False if the database refuses it. */
    async heartbeat() {
      const host = { hostId, name: hostId, capacity: 1, known: losses.known() };
      const renewed = await hosts.renew(host);
      if (renewed !== null) await losses.remember(renewed.known);
      return renewed !== null;
    },
  };
}

type Host = ReturnType<typeof newHost>;

async function sendHeartbeats(...hosts: Host[]): Promise<void> {
  for (const host of [...hosts, ...hosts]) expect(await host.heartbeat()).toBe(true);
}

/** As if the last heartbeat of every host had not been received by the replica. */
const loseHeartbeats = () => database.pool.query('update hosts set heartbeats = heartbeats - 1');

const countRestores = async () => (await database.pool.query('select from restores')).rowCount;

it('a lost heartbeat is recorded as one restore by all hosts, and the next ones are accepted', async () => {
  const hosts = [newHost(), newHost(), newHost()];
  await sendHeartbeats(...hosts);
  const before = await database.pool.query('select max(last_seen) as at from hosts');
  await loseHeartbeats();
  for (const host of hosts) expect(await host.heartbeat()).toBe(false);
  expect(await Promise.all(hosts.map((host) => host.check()))).toEqual(['lost', 'lost', 'lost']);
  const restores = await database.pool.query('select dumped_at <= $1 as "isEarly" from restores', [
    before.rows[0].at,
  ]);
  expect(restores.rows).toEqual([{ isEarly: true }]);
  expect(lines.filter((line) => line.includes('"database_commits_lost"'))).toHaveLength(3);
  expect(purges).toBe(3);
  await sendHeartbeats(...hosts);
  expect(await Promise.all(hosts.map((host) => host.check()))).toEqual([
    'unchanged',
    'unchanged',
    'unchanged',
  ]);
});

it('a lost host is noticed by a worker that was restarted', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  await database.pool.query('delete from hosts');
  host.restart();
  expect(await host.heartbeat()).toBe(false);
  expect(await host.check()).toBe('lost');
  expect(await countRestores()).toBe(1);
});

it('a second loss is another restore', async () => {
  const host = newHost();
  for (const nth of [1, 2]) {
    await sendHeartbeats(host);
    await loseHeartbeats();
    expect(await host.check()).toBe('lost');
    expect(await countRestores()).toBe(nth);
  }
});

it('a restore from backup is not recorded again', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  await loseHeartbeats();
  await database.pool.query('select record_restore(db_clock())');
  expect(await host.check()).toBe('lost');
  expect(await countRestores()).toBe(1);
});

it('a heartbeat that was stored and not confirmed proves nothing', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  await database.pool.query('update hosts set heartbeats = heartbeats + 1');
  expect(await host.check()).toBe('unchanged');
  expect(await host.heartbeat()).toBe(true);
});

it('another database proves nothing, and is reported', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  await database.pool.query('truncate hosts');
  await database.pool.query('update database_identity set id = gen_random_uuid()');
  expect(await host.check()).toBe('unchanged');
  await sendHeartbeats(host);
  expect(lines.filter((line) => line.includes('"other_database"'))).toHaveLength(1);
  expect(lines.join('')).toContain('correct DATABASE_URL');
  expect(await countRestores()).toBe(0);
});

it('a damaged file proves nothing', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  await loseHeartbeats();
  writeFileSync(join(host.dataDir, 'database.json'), '');
  host.restart();
  expect(await host.check()).toBe('unchanged');
  expect(await host.heartbeat()).toBe(true);
});

it('another worker with the ID of the host is not a loss', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  await database.pool.query(`update host_leases set owner = 'other'`);
  expect(await host.heartbeat()).toBe(false);
  expect(await host.check()).toBe('unchanged');
});

it('after a restart Postgres gets no heartbeat before it was compared with Redis, and nothing ends', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  host.restartPostgres();
  expect(await host.heartbeat()).toBe(false);
  expect(await host.check()).toBe('no_loss_found');
  await sendHeartbeats(host);
  expect(await countRestores()).toBe(0);
  expect(purges).toBe(0);
});

it('a loss between two heartbeats is recorded once by all hosts', async () => {
  const hosts = [newHost(), newHost()];
  await sendHeartbeats(...hosts);
  readCommits = async () => ({ acceptedIds: [randomUUID()], lastFrames: [] });
  for (const host of hosts) host.restartPostgres();
  for (const host of hosts) expect(await host.heartbeat()).toBe(false);
  expect(await Promise.all(hosts.map((host) => host.check()))).toEqual(['lost', 'lost']);
  expect(await countRestores()).toBe(1);
  expect(purges).toBe(2);
  await sendHeartbeats(...hosts);
});

it('Redis is not compared without a restart of Postgres, nor with another database', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  readCommits = () => Promise.reject(new Error('must not be read'));
  expect(await host.check()).toBe('unchanged');
  host.restartPostgres();
  await database.pool.query('update database_identity set id = gen_random_uuid()');
  expect(await host.check()).toBe('unchanged');
  expect(await host.heartbeat()).toBe(true);
});

it('a restart of Postgres is accepted with a warning if Redis does not answer in time', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  readCommits = () => Promise.reject(new Error('Redis is down'));
  host.restartPostgres();
  expect(await host.check()).toBe('no_loss_found');
  expect(lines.filter((line) => line.includes('"database_comparison_failed"'))).toHaveLength(1);
  await sendHeartbeats(host);
});

it('Redis is read again while it does not answer', async () => {
  const host = newHost();
  await sendHeartbeats(host);
  host.restartPostgres();
  let reads = 0;
  readCommits = async () => {
    reads += 1;
    if (reads === 1) throw new Error('Redis is down');
    return { acceptedIds: [randomUUID()], lastFrames: [] };
  };
  expect(await host.check()).toBe('lost');
});
