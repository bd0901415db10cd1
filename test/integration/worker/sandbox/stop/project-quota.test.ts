// The worker's part of a quota. `npm run test:quotas` tests the kernel's part.

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ProjectQuotas, QuotaUsage } from '../../../../../worker/host/quota/project-quotas.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, follow } from '../supervisor-fixture.ts';

const database = useDatabase();
const miB = 1024 ** 2;

/** A kernel that enforces quotas. The files of the n-th sandbox use what the n-th entry says. */
function quotasWith(used: Partial<QuotaUsage>[]) {
  const calls: string[] = [];
  const spools: string[] = [];
  const quotas: ProjectQuotas = {
    state: async () => 'enforced',
    assign: async ({ spool, spoolFile, workspace }) => {
      spools.push(spool);
      const isEmpty = existsSync(spool) && existsSync(workspace) && !existsSync(spoolFile);
      calls.push(isEmpty ? 'assigned to empty folders' : 'assigned too early or too late');
    },
    usage: async ({ spool }) => {
      const own = used[spools.indexOf(spool)];
      return { bytes: 0, inodes: 0, maxBytes: 100 * miB, maxInodes: 1_000, ...own };
    },
    release: async (root) => {
      calls.push(existsSync(root) ? 'released before the removal' : 'released too late');
    },
  };
  return { quotas, calls };
}

test('sandboxes whose quotas are used up end with disk_full', async () => {
  const { quotas, calls } = quotasWith([{ bytes: 100 * miB }, { inodes: 1_000 }]);
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process({ projectQuotas: quotas });
  const [full, crowded] = [
    await fixture.run([{ hang: true }]),
    await fixture.run([{ hang: true }]),
  ];
  await supervisor.start(full);
  await supervisor.start(crowded);
  expect(calls).toEqual(['assigned to empty folders', 'assigned to empty folders']);
  const ends = await Promise.all([follow(supervisor, full), follow(supervisor, crowded)]);
  expect(ends.map(({ cause }) => cause)).toEqual(['disk_full', 'disk_full']);
  const linesOf = ({ runId }: { runId: string }): string =>
    fixture.logged.filter((line) => line.includes(runId)).join('');
  expect(linesOf(full)).toContain('the working directory is over its limit');
  expect(linesOf(crowded)).toContain('the working directory holds too many files');
  await supervisor.remove(full, { keepFolders: false });
  expect(calls.slice(2)).toEqual(['released before the removal']);
  expect(existsSync(foldersOf(fixture.dataDir, full).root)).toBe(false);
});

test('an adopted sandbox keeps its quota', async () => {
  const { quotas, calls } = quotasWith([]);
  const fixture = await createSupervisorFixture(database.pool);
  const first = fixture.process({ projectQuotas: quotas });
  const ref = await fixture.run([{ waitForFile: '/workspace/go' }]);
  await first.start(ref);
  await first.close();
  const second = fixture.process({ projectQuotas: quotas });
  await second.adoptExisting();
  expect(calls).toEqual(['assigned to empty folders']);
  await fixture.touch(ref, 'go');
  expect(await follow(second, ref)).toMatchObject({ cause: 'completed' });
});
