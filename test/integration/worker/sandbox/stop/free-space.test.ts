// The sandboxes of a host share the disk of its data folder, here a small ext4 file system with few
// inodes.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, follow } from '../supervisor-fixture.ts';

const database = useDatabase();
const miB = 1024 ** 2;
const reserveOf = {
  bytes: { bytes: 1_024 * miB, inodes: 1 },
  inodes: { bytes: 1, inodes: 10_000 },
};
let folder: string;
let disk: string;

beforeAll(() => {
  // In memory, because a disk that is written at full speed delays all other tests.
  folder = mkdtempSync('/dev/shm/disk-');
  disk = join(folder, 'm');
  mkdirSync(disk);
  execFileSync('truncate', ['-s', '1536M', join(folder, 'image')]);
  execFileSync('mkfs.ext4', ['-q', '-m', '0', '-N', '20000', join(folder, 'image')]);
  execFileSync('mount', ['-o', 'loop', join(folder, 'image'), disk]);
});
afterAll(() => {
  execFileSync('umount', ['--lazy', disk]);
  rmSync(folder, { recursive: true });
});

const freeSpace = () => {
  const { bavail, bsize, ffree } = statfsSync(disk);
  return { bytes: bavail * bsize, inodes: ffree };
};

/** Creates and writes a small file all the time until it may go, and reports each failure. */
const quiet = {
  shell:
    'until [ -e go ]; do rm -f small; dd if=/dev/zero of=small bs=64k count=1 2>/dev/null || echo no $((1)) space; sleep 0.05; done; echo quiet $((2)) end',
};
/** At most 400 MiB a second, so that the reserve lasts for the two seconds that it promises. */
const write = 'while dd if=/dev/zero bs=1M count=2 2>/dev/null; do sleep 0.02; done';
const fill = `for n in 1 2 3 4; do (exec > big-$n; ${write}) & done; wait`;
/** In files that are in no directory. */
const fillHidden = `for n in 1 2 3 4; do (exec > big-$n; rm big-$n; ${write}) & done; wait`;
/** At most 10 000 a second. */
const fillInodes =
  'n=0; while :; do n=$((n+1)); : > f-$n; [ $((n % 100)) -gt 0 ] || sleep 0.01; done';

test.each([
  ['with files', fill, 'bytes'],
  ['with deleted files', fillHidden, 'bytes'],
  ['with empty files', fillInodes, 'inodes'],
] as const)(
  'ends the sandbox that fills the disk %s, and a quiet neighbour completes',
  async (_how, shell, resource) => {
    const fixture = await createSupervisorFixture(database.pool, disk);
    let unpauses = 0;
    const unpause = async (containerId: string): Promise<void> => {
      unpauses += 1;
      if (unpauses === 1) throw new Error('the engine is busy');
      return fixture.sandboxes.unpause(containerId);
    };
    const sandboxes = { ...fixture.sandboxes, unpause };
    const supervisor = fixture.process({ diskReserve: reserveOf[resource], sandboxes });
    const neighbour = await fixture.run([quiet]);
    const hostile = await fixture.run([{ shell }, { hang: true }]);
    const free = (): number => freeSpace()[resource];
    let least = free();
    const sampling = setInterval(() => (least = Math.min(least, free())), 20);
    onTestFinished(() => clearInterval(sampling));
    await supervisor.start(neighbour);
    await supervisor.start(hostile);
    expect(await follow(supervisor, hostile)).toMatchObject({ cause: 'disk_full' });
    clearInterval(sampling);
    expect(least).toBeGreaterThan(0);
    expect(least).toBeLessThan(reserveOf[resource][resource]);
    expect(fixture.logged.join('')).toContain('the disk of the host was almost full');
    await fixture.touch(neighbour, 'go');
    expect(await follow(supervisor, neighbour)).toMatchObject({ cause: 'completed' });
    const log = JSON.stringify(await fixture.log(neighbour));
    expect(log).toContain('quiet 2 end');
    expect(log).not.toContain('no 1 space');
  },
);
