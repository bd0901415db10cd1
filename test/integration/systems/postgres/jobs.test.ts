import { beforeEach, expect, test } from 'vitest';
import { createJobStore } from '../../../../systems/postgres/maintenance/job-store.ts';
import { useDatabase } from '../../../support/use-database.ts';

const database = useDatabase();
beforeEach(() => database.pool.query('truncate reconciler_jobs'));

const jobs = () => createJobStore(database.pool);
const claim = (leader: string, leaseMs = 60_000) => jobs().claim({ name: 'runs', leader, leaseMs });

/** As if that much time had passed. */
async function passTime(ms: number): Promise<void> {
  const text = `update reconciler_jobs set free_at = free_at - $1 * interval '1 ms'`;
  await database.pool.query(text, [ms]);
}

test('of ten workers that claim a job at once, one leads it', async () => {
  const leaders = Array.from({ length: 10 }, (_, n) => `host-${n}`);
  const claimed = await Promise.all(leaders.map((leader) => claim(leader)));
  expect(claimed.filter(Boolean)).toHaveLength(1);
  const leader = leaders[claimed.indexOf(true)] ?? '';
  const again = await Promise.all(leaders.map((each) => claim(each)));
  expect(leaders.filter((_, n) => again[n])).toEqual([leader]);
});

test('a job is claimed by another worker when the lease has expired, and not before', async () => {
  expect(await claim('one')).toBe(true);
  await passTime(59_000);
  expect(await claim('other')).toBe(false);
  expect(await claim('one'), 'the lease is renewed').toBe(true);
  await passTime(59_000);
  expect(await claim('other')).toBe(false);
  await passTime(1_000);
  expect(await claim('other')).toBe(true);
  expect(await claim('one')).toBe(false);
});

test('a released job is claimed by any worker after the pause, and not before', async () => {
  await claim('one');
  await jobs().release({ name: 'runs', leader: 'one', pauseMs: 60_000 });
  for (const leader of ['one', 'other']) expect(await claim(leader)).toBe(false);
  await passTime(60_000);
  expect(await claim('other')).toBe(true);
});

test('only the leader releases a job, and jobs do not affect each other', async () => {
  await claim('one');
  await jobs().release({ name: 'runs', leader: 'other', pauseMs: 0 });
  expect(await claim('other')).toBe(false);
  expect(await jobs().claim({ name: 'hosts', leader: 'other', leaseMs: 60_000 })).toBe(true);
});
