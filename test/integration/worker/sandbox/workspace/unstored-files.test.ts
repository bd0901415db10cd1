// The files of ended runs that are not stored. Their host keeps them and retries.

import { existsSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SandboxRef } from '../../../../../workflows/shared/activities.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, follow, type SupervisorFixture } from '../supervisor-fixture.ts';

const database = useDatabase();

/** A host that cannot store files until `recover`. */
async function hostWithoutStore() {
  const fixture = await createSupervisorFixture(database.pool);
  const attempts: string[] = [];
  let isAway = true;
  const supervisor = fixture.process({
    files: {
      ...fixture.files,
      replaceSnapshot: async (of, ...snapshot) => {
        attempts.push(of.runId);
        if (isAway) throw new Error('Postgres is away');
        return fixture.files.replaceSnapshot(of, ...snapshot);
      },
    },
  });
  const recover = (): void => {
    isAway = false;
  };
  return { fixture, supervisor, attempts, recover };
}

type Host = Awaited<ReturnType<typeof hostWithoutStore>>;

/** A run whose agent has written a file. */
async function endedRun({ fixture, supervisor }: Host): Promise<SandboxRef> {
  const ref = await fixture.run([{ write: { path: 'a.txt', content: 'kept' } }, { say: 'done' }]);
  await supervisor.start(ref);
  const end = await follow(supervisor, ref);
  await expect(supervisor.snapshot(ref)).rejects.toThrow('away');
  const { hasUnstoredFiles } = await fixture.runs.endRun({ ...ref, ...end, filesStored: false });
  await supervisor.remove(ref, { keepFolders: hasUnstoredFiles });
  return ref;
}

const loggedAttempts = ({ logged }: SupervisorFixture): number =>
  logged.join('').split('"unstored_files_').length - 1;

const stateOf = async (fixture: SupervisorFixture, { runId }: SandboxRef) =>
  (await fixture.runs.findStoredFiles(runId))?.state;

test('are stored in the background, one run at a time, and then their folders go', async () => {
  const host = await hostWithoutStore();
  const { fixture, supervisor, attempts } = host;
  const refs = [await endedRun(host), await endedRun(host)];
  const runIds = refs.map(({ runId }) => runId);
  const folders = () => refs.map((ref) => existsSync(fixture.workspace(ref)));
  expect((await fixture.sandboxes.list()).map(({ runId }) => runId)).not.toContain(runIds[0]);

  attempts.length = 0;
  for (const nth of [1, 2]) {
    await supervisor.removeOrphanedFolders();
    await expect.poll(() => loggedAttempts(fixture)).toBe(nth);
  }
  await supervisor.removeOrphanedFolders(); // neither is due
  expect(attempts.toSorted()).toEqual(runIds.toSorted());
  expect(folders()).toEqual([true, true]);

  host.recover();
  await supervisor.close();
  const restarted = fixture.process();
  await restarted.adoptExisting();
  expect(folders()).toEqual([true, true]);
  for (const nth of [3, 4]) {
    await restarted.removeOrphanedFolders();
    await expect.poll(() => loggedAttempts(fixture)).toBe(nth);
  }
  for (const ref of refs) expect(await stateOf(fixture, ref)).toBe('stored');
  await restarted.removeOrphanedFolders();
  expect(folders()).toEqual([false, false]);
});

test('stay unstored, without another attempt, if the host has lost their folder', async () => {
  const host = await hostWithoutStore();
  const ref = await endedRun(host);
  host.attempts.length = 0;
  rmSync(`${host.fixture.dataDir}/r`, { recursive: true });
  await host.supervisor.removeOrphanedFolders();
  await host.supervisor.removeOrphanedFolders();
  await host.supervisor.close();
  expect(host.attempts).toEqual([]);
  expect(loggedAttempts(host.fixture)).toBe(0);
  expect(await stateOf(host.fixture, ref)).toBe('failed');
});
