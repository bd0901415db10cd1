import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createHostLeaseStore } from '../../../../systems/postgres/hosts/host-lease-store.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { claimHost } from '../../../../worker/host/claim-host.ts';
import { measureSlowdown } from '../../../support/processor-wait.ts';
import { useDatabase } from '../../../support/use-database.ts';

const database = useDatabase();
const leases = () => createHostLeaseStore(database.pool);
const hosts = () => createHostStore(database.pool);
const never = new AbortController().signal;
const leaseMs = 1_000;

const start = (hostId: string, owner: string) =>
  claimHost(
    {
      leases: leases(),
      lease: { hostId, owner },
      leaseMs,
      watchMs: 1_200,
      logger: pino({ level: 'silent' }),
    },
    never,
  );
const heartbeat = (hostId: string, owner: string) =>
  hosts().renew({ hostId, name: hostId, capacity: 1, owner, leaseMs });

/** Sends heartbeats until the work is done. */
async function whileAlive<T>(hostId: string, owner: string, work: Promise<T>): Promise<T> {
  const beats = setInterval(() => void heartbeat(hostId, owner), 300);
  return work.finally(() => clearInterval(beats));
}

it('a worker that restarts takes its ID over at once, released or not', async () => {
  const hostId = randomUUID();
  expect(await start(hostId, 'machine/folder')).toBe('claimed');
  await heartbeat(hostId, 'machine/folder');
  const slowdown = measureSlowdown(process.pid);
  const from = performance.now();
  expect(await start(hostId, 'machine/folder')).toBe('claimed');
  expect(performance.now() - from).toBeLessThan(400 * slowdown());
  await leases().release({ hostId, owner: 'machine/folder' });
  expect(await start(hostId, 'other/folder')).toBe('claimed');
  expect(performance.now() - from).toBeLessThan(400 * slowdown());
});

it('a second worker with the ID of a live one is refused', async () => {
  const hostId = randomUUID();
  expect(await start(hostId, 'first')).toBe('claimed');
  expect(await whileAlive(hostId, 'first', start(hostId, 'second'))).toBe('taken');
  expect(await heartbeat(hostId, 'first')).toMatchObject({ draining: false });
  expect(await heartbeat(hostId, 'second')).toBeNull();
});

it('a worker of another machine takes over the ID of one that is gone, which then stops', async () => {
  const hostId = randomUUID();
  await start(hostId, 'first');
  await heartbeat(hostId, 'first');
  expect(await start(hostId, 'second')).toBe('claimed');
  await database.pool.query(`update hosts set name = 'before' where id = $1`, [hostId]);
  expect(await heartbeat(hostId, 'first')).toBeNull();
  expect((await hosts().list()).find((host) => host.hostId === hostId)?.name).toBe('before');
  expect(await heartbeat(hostId, 'second')).toMatchObject({ draining: false });
});

it.each(['unused', 'of a host that is gone'])(
  'of ten workers one gets an ID %s',
  async (which) => {
    const hostId = randomUUID();
    if (which !== 'unused') await start(hostId, 'gone');
    const beats: NodeJS.Timeout[] = [];
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const outcome = await start(hostId, `owner-${n}`);
        if (outcome === 'claimed')
          beats.push(setInterval(() => void heartbeat(hostId, `owner-${n}`), 300));
        return outcome;
      }),
    );
    for (const each of beats) clearInterval(each);
    expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(9);
  },
  20_000,
);

it('an outage of Postgres restarts the watch', async () => {
  const hostId = randomUUID();
  await start(hostId, 'first');
  let calls = 0;
  const { claim } = leases();
  const outcome = claimHost(
    {
      leases: {
        async claim(lease) {
          calls += 1;
          if (calls === 3) throw new Error('away');
          expect(calls > 4 || lease.unchanged === null).toBe(true);
          return claim(lease);
        },
      },
      lease: { hostId, owner: 'second' },
      leaseMs,
      watchMs: 900,
      logger: pino({ level: 'silent' }),
    },
    never,
  );
  expect(await outcome).toBe('claimed');
  expect(calls).toBeGreaterThanOrEqual(6);
});
