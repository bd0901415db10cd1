// Another process has taken over the sandbox of this one, which has not noticed: it was suspended
// during the takeover, and renews its lease too rarely to find out.

import { expect, test } from 'vitest';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { createSupervisorFixture, follow } from './supervisor-fixture.ts';

const database = useDatabase();

const retry = { timeout: 30_000 };
const times = { stallTimeoutMs: 60_000, afterResultGraceMs: 15_000, leaseMs: 600_000 };

test('releases its sandbox as soon as a write is rejected', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const first = fixture.process({ times });
  const ref = await fixture.run([{ say: 'before' }, { waitForFile: 'go' }, { say: 'after' }]);
  await first.start(ref);
  const texts = async () =>
    (await fixture.log(ref)).flatMap(
      ({ data }) => data.match(/"text":"(before|after)"/)?.[1] ?? [],
    );
  await expect.poll(texts, retry).toEqual(['before']);
  const second = fixture.process();
  await second.adoptExisting();
  expect(first.live()).toEqual([ref]);
  const followed = follow(first, ref);
  followed.catch(() => undefined); // awaited below
  await fixture.touch(ref, 'go');
  await expect.poll(first.live, retry).toEqual([]);
  await expect(followed).rejects.toThrow('the lease is lost');
  expect(await follow(second, ref)).toMatchObject({ cause: 'completed', exitCode: 0 });
  expect(await texts()).toEqual(['before', 'after']);
});

test('a process that loses one of several leases releases that sandbox alone', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process({ times: { ...times, leaseMs: 1_500 } });
  const steps = [{ waitForFile: 'go' }, { say: 'after' }];
  const [lost, kept] = [await fixture.run(steps), await fixture.run(steps)];
  await Promise.all([lost, kept].map((ref) => supervisor.start(ref)));
  const followed = follow(supervisor, lost);
  followed.catch(() => undefined); // awaited below
  await createFrameStore(database.pool).takeLease(lost.runId, fixture.hostId, 60_000);
  await expect.poll(supervisor.live, retry).toEqual([kept]);
  await expect(followed).rejects.toThrow('the lease is lost');
  await fixture.touch(kept, 'go');
  expect(await follow(supervisor, kept)).toMatchObject({ cause: 'completed', exitCode: 0 });
  const listed = await fixture.sandboxes.list();
  expect(listed.find(({ runId }) => runId === lost.runId)?.state).toBe('running');
});
