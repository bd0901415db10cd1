// The sandboxes and leftovers that a host finds when its process restarts.

import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFrameStore } from '../../../../../systems/postgres/log/frame-store.ts';
import { createRunStore } from '../../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../../support/database.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, follow } from '../supervisor-fixture.ts';

const database = useDatabase();

const end = { cause: 'max_reconnects_exceeded', detail: null, exitCode: null } as const;

test('adopts running sandboxes, removes ended ones, and ignores those of other hosts', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const first = fixture.process();
  const living = await fixture.run([{ hang: true }]);
  const ended = await fixture.run([{ hang: true }]);
  for (const ref of [living, ended]) await first.start(ref);
  const ofOtherHost = await fixture.run([{ hang: true }]);
  const other = fixture.process({ hostId: `other-${fixture.hostId}` });
  await other.start(ofOtherHost);
  await Promise.all([first.close(), other.close()]);
  await createRunStore(database.pool, testSealer).endRun({ runId: ended.runId, ...end });

  const second = fixture.process();
  await second.adoptExisting();
  expect(second.live()).toEqual([living]);
  const left = (await fixture.sandboxes.list()).map(({ runId }) => runId).sort();
  expect(left).toEqual([living.runId, ofOtherHost.runId].sort());
  const short = living.runId.replaceAll('-', '').slice(0, 12);
  expect(await readdir(join(fixture.dataDir, 'r'))).toEqual(expect.arrayContaining([`${short}-1`]));
  expect(await readdir(join(fixture.dataDir, 's'))).toEqual(expect.arrayContaining([short]));
});

test('unpauses a run that a previous process of the host had paused', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const first = fixture.process();
  const ref = await fixture.run([{ waitForFile: '/workspace/go' }]);
  await first.start(ref);
  await first.close();
  for (const { containerId } of await fixture.sandboxes.list()) {
    await fixture.sandboxes.pause(containerId);
  }

  const second = fixture.process();
  await second.adoptExisting();
  await fixture.touch(ref, 'go');
  expect(await follow(second, ref)).toMatchObject({ cause: 'completed' });
});

test('leaves a container that was created and never started to the next start', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const ref = await fixture.run([{ say: 'hello' }]);
  const broken = { ...fixture.sandboxes, start: () => Promise.reject(new Error('killed here')) };
  const first = fixture.process({ sandboxes: broken });
  await expect(first.start(ref)).rejects.toMatchObject({
    name: 'SandboxStartError',
    permanent: false,
  });
  await first.close();

  const second = fixture.process();
  await second.adoptExisting();
  expect(second.live()).toEqual([]);
  expect(await second.start(ref)).toBe('started');
  expect(await follow(second, ref)).toMatchObject({ cause: 'completed' });
});

test('starts nothing twice after a process was killed between the start and its record', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const ref = await fixture.run([{ say: 'hello' }, { waitForFile: '/workspace/go' }]);
  const runs = { ...fixture.runs, markStarted: () => Promise.reject(new Error('killed here')) };
  const first = fixture.process({ runs });
  await expect(first.start(ref)).rejects.toMatchObject({ name: 'SandboxStartError' });
  await first.close();

  const second = fixture.process();
  expect(await second.start(ref)).toBe('started');
  await fixture.touch(ref, 'go');
  expect(await follow(second, ref)).toMatchObject({ cause: 'completed' });
  expect(await fixture.sandboxes.list()).toHaveLength(1);
  const log = await fixture.log(ref);
  expect(log[0]).toMatchObject({ event: 'agent_status', data: '{"status":"idle"}' });
});

test('publishes a start that a dead process had recorded and not published', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const ref = await fixture.run([{ waitForFile: '/workspace/go' }]);
  const frames = {
    ...createFrameStore(database.pool),
    appendOwn: () => Promise.reject(new Error('killed here')),
  };
  const first = fixture.process({ frames });
  await expect(first.start(ref)).rejects.toMatchObject({ name: 'SandboxStartError' });
  await first.close();

  const second = fixture.process();
  await second.adoptExisting();
  await fixture.touch(ref, 'go');
  await follow(second, ref);
  const log = await fixture.log(ref);
  expect(log[0]).toMatchObject({ event: 'agent_status', data: '{"status":"idle"}' });
});

test('a start retried after the end finds the end, and creates no second container', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const first = fixture.process();
  const ref = await fixture.run([{ say: 'hello' }]);
  await first.start(ref);
  await follow(first, ref);
  await first.close();

  const second = fixture.process();
  expect(await second.start(ref)).toBe('started');
  expect(await follow(second, ref)).toMatchObject({ cause: 'completed', exitCode: 0 });
  for (const { containerId } of await fixture.sandboxes.list()) {
    await fixture.sandboxes.remove(containerId);
  }
  const third = fixture.process();
  await second.close();
  expect(await third.start(ref)).toBe('started');
  expect(await follow(third, ref)).toMatchObject({ cause: 'completed' });
  expect(await fixture.sandboxes.list()).toEqual([]);
});

test('removes what is left of a run without a container once the run has ended', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const [taken, living] = [
    await fixture.run([{ hang: true }]),
    await fixture.run([{ hang: true }]),
  ];
  for (const ref of [taken, living]) await supervisor.start(ref);
  const theirs = (await fixture.sandboxes.list()).find(({ runId }) => runId === taken.runId);
  await fixture.sandboxes.remove(theirs?.containerId ?? '');
  await follow(supervisor, taken);
  await supervisor.removeOrphanedFolders();
  expect(await readdir(join(fixture.dataDir, 'r'))).toHaveLength(2);

  await fixture.runs.endRun({ runId: taken.runId, ...end, filesStored: true });
  await supervisor.removeOrphanedFolders();
  const short = living.runId.replaceAll('-', '').slice(0, 12);
  expect(await readdir(join(fixture.dataDir, 'r'))).toEqual([`${short}-1`]);
  expect(await readdir(join(fixture.dataDir, 's'))).toEqual([short]);
  expect(supervisor.live()).toEqual([living]);
});

test('a missing image fails permanently, with an error for the run’s owner', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const ref = await fixture.run([], {}, { image: 'flowrun-no-such-image:1' });
  const failure = { name: 'SandboxStartError', permanent: true, detail: 'no such image' };
  await expect(fixture.process().start(ref)).rejects.toMatchObject(failure);
  await fixture.process().remove(ref, { keepFolders: false });
  expect(await readdir(join(fixture.dataDir, 'r'))).toEqual([]);
});

test('closes the agent’s input once, also if another process saw its result', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const times = { stallTimeoutMs: 60_000, afterResultGraceMs: 60_000, leaseMs: 15_000 };
  const first = fixture.process({ times });
  const ref = await fixture.run([{ hangAfterResult: true }, { say: 'done' }]);
  await first.start(ref);
  await expect
    .poll(async () => (await fixture.find(ref)).numTurns, { timeout: 30_000 })
    .toBeGreaterThan(0);
  await first.close();
  const second = fixture.process({ times: { ...times, afterResultGraceMs: 1_000 } });
  await second.adoptExisting();
  expect(await follow(second, ref)).toMatchObject({ cause: 'hung_after_result' });
});

test('removes a tree that resists deletion', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const deep =
    'd=$(printf a%.0s $(seq 200)); for i in $(seq 300); do mkdir $d && cd $d; done; touch end';
  const ref = await fixture.run([
    { shell: deep },
    {
      shell:
        'mkdir shut && touch shut/x && chmod 000 shut; mkfifo pipe; ln -s / root; ln -s /etc/passwd link',
    },
  ]);
  await supervisor.start(ref);
  await follow(supervisor, ref);
  const outside = join(fixture.dataDir, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'kept'), '');
  await symlink(outside, join(fixture.workspace(ref), 'way-out'));
  await supervisor.remove(ref, { keepFolders: false });
  expect(await readdir(join(fixture.dataDir, 'r'))).toEqual([]);
  expect(await readdir(outside)).toEqual(['kept']);
});
