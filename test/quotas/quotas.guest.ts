// Runs as root inside the test's own kernel, with the kernel's real project quotas.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { isUsedUp } from '../../worker/host/quota/project-quotas.ts';
import {
  createSandboxDisk,
  type Disk,
  holdAsAgent,
  ids,
  make,
  miB,
  mount,
  quotaOf,
  recordedIds,
  unmount,
  writeAsAgent,
} from './guest-disks.ts';

const disks: Disk[] = [
  { type: 'ext4', device: '/dev/ubda', folder: '/mnt/ext4', shareBytes: 40 * miB },
  { type: 'xfs', device: '/dev/ubdb', folder: '/mnt/xfs', shareBytes: 130 * miB },
];
const fill = {
  writing: 'cat /dev/zero > fill',
  reserving: 'for n in $(seq 200); do fallocate -l 2M fill-$n || break; done',
  'writing a deleted file': 'exec 3> fill; rm fill; cat /dev/zero >&3',
};

for (const disk of disks) {
  void describe(`on ${disk.type}`, () => {
    void describe('without project quotas', () => {
      before(() => {
        make(disk);
        mount(disk, 'defaults');
      });
      after(() => unmount(disk));

      void test('the state is off, and a neighbour finds the disk full', async () => {
        const sandboxes = createSandboxDisk(disk);
        assert.equal(await sandboxes.quotas.state(), 'off');
        const hostile = await sandboxes.add();
        const neighbour = await sandboxes.add();
        writeAsAgent(hostile, fill.writing);
        assert.equal(await sandboxes.quotas.usage(hostile), null);
        const { status, stderr } = writeAsAgent(neighbour, sandboxes.wholeShare);
        assert.notEqual(status, 0);
        assert.match(stderr, /No space left on device/);
      });
    });

    void describe('with project quotas', () => {
      before(() => {
        make(disk);
        mount(disk, 'prjquota');
      });
      after(() => unmount(disk));

      for (const [way, script] of Object.entries(fill)) {
        void test(`${way} ends at the limit, and a neighbour writes its whole share`, async () => {
          const sandboxes = createSandboxDisk(disk);
          assert.equal(await sandboxes.quotas.state(), 'enforced');
          const hostile = await sandboxes.add();
          const neighbour = await sandboxes.add();
          const held = await holdAsAgent(hostile, script);
          assert.match(held.stderr, /Disk quota exceeded|No space left on device/);
          const { status } = writeAsAgent(neighbour, sandboxes.wholeShare);
          assert.equal(status, 0);
          const written = await sandboxes.quotas.usage(neighbour);
          assert.ok(written !== null && !isUsedUp.bytes(written));
          await held.end();
          await sandboxes.remove(hostile);
          await sandboxes.remove(neighbour);
        });
      }

      void test('what fits into the limit is written, and nothing beyond it', async () => {
        const sandboxes = createSandboxDisk(disk);
        const folders = await sandboxes.add();
        const { bytes, maxBytes } = quotaOf(await sandboxes.quotas.usage(folders));
        // The kernel reserves some blocks for its own records of a file.
        const most = maxBytes - bytes - 256 * 1_024;
        assert.equal(writeAsAgent(folders, `fallocate -l ${most} most`).status, 0);
        assert.notEqual(writeAsAgent(folders, 'head -c 512K /dev/zero > more').status, 0);
        const full = quotaOf(await sandboxes.quotas.usage(folders));
        assert.ok(full.bytes <= maxBytes && full.bytes >= bytes + most);
        assert.ok(isUsedUp.bytes(full));
        const again = writeAsAgent(folders, 'rm most && head -c 512K /dev/zero > more');
        assert.equal(again.status, 0, again.stderr);
        await sandboxes.remove(folders);
      });

      void test('the last file within the limit is created, and none beyond it', async () => {
        const sandboxes = createSandboxDisk(disk);
        const folders = await sandboxes.add();
        const { inodes, maxInodes } = quotaOf(await sandboxes.quotas.usage(folders));
        const create = (count: number) => `for n in $(seq ${count}); do echo > f$n || exit 1; done`;
        assert.equal(writeAsAgent(folders, create(maxInodes - inodes)).status, 0);
        const full = quotaOf(await sandboxes.quotas.usage(folders));
        assert.equal(full.inodes, full.maxInodes);
        assert.ok(isUsedUp.inodes(full));
        assert.notEqual(writeAsAgent(folders, 'echo > one-more').status, 0);
        await sandboxes.remove(folders);
      });

      void test('output and configuration count as well', async () => {
        const sandboxes = createSandboxDisk(disk);
        const folders = await sandboxes.add();
        const empty = quotaOf(await sandboxes.quotas.usage(folders));
        for (const path of [folders.spoolFile, `${folders.config}/a`, `${folders.workspace}/a`])
          execFileSync('fallocate', ['-l', '1M', path]);
        const written = quotaOf(await sandboxes.quotas.usage(folders));
        assert.equal(written.bytes - empty.bytes, 3 * miB);
        await sandboxes.remove(folders);
      });

      void test('ten sandboxes that start at once get ten IDs', async () => {
        const sandboxes = createSandboxDisk(disk);
        const all = await Promise.all(Array.from({ length: 10 }, sandboxes.add));
        assert.equal(new Set(all.flatMap(ids)).size, 10);
        assert.deepEqual(recordedIds(disk), all.flatMap(({ spool }) => ids({ spool })).sort());
        for (const folders of all) await sandboxes.remove(folders);
        assert.deepEqual(recordedIds(disk), []);
      });

      void test('an ID of another program is not used', async () => {
        const sandboxes = createSandboxDisk(disk);
        const folders = sandboxes.paths();
        execFileSync('mkdir', ['-p', folders.spool, folders.workspace, folders.config]);
        const taken = 2 ** 31 + (statSync(folders.spool).ino % (2 ** 31 - 1));
        execFileSync('setquota', ['-P', String(taken), '0', '1024', '0', '0', disk.folder]);
        await sandboxes.make(folders);
        assert.deepEqual(recordedIds(disk), [taken, ...ids(folders)].sort());
        await sandboxes.remove(folders);
        assert.deepEqual(recordedIds(disk), [taken]);
        execFileSync('setquota', ['-P', String(taken), '0', '0', '0', '0', disk.folder]);
      });

      void test('a restart keeps IDs, limits and use, and completes what was begun', async () => {
        const sandboxes = createSandboxDisk(disk);
        const folders = await sandboxes.add();
        const begun = sandboxes.paths();
        execFileSync('mkdir', ['-p', begun.spool, begun.workspace, begun.config]);
        execFileSync('chattr', ['-p', '77', begun.spool]);
        writeAsAgent(folders, 'fallocate -l 1M kept');
        const [own, kept] = [ids(folders), await sandboxes.quotas.usage(folders)];
        unmount(disk);
        mount(disk, 'prjquota');
        const next = createSandboxDisk(disk);
        await next.make(folders);
        await next.make(begun);
        assert.deepEqual(ids(folders), own);
        assert.deepEqual(await next.quotas.usage(folders), kept);
        assert.deepEqual(ids(begun), [77]);
        assert.equal(quotaOf(await next.quotas.usage(begun)).maxBytes, kept?.maxBytes);
        await next.remove(folders);
        await next.remove(begun);
        assert.deepEqual(recordedIds(disk), []);
      });

      void test('a worker without the permission reports so and limits nothing', () => {
        const script = [
          `import { createProjectQuotas } from '${import.meta.dirname}/../../worker/host/quota/project-quotas.ts';`,
          `const logger = { warn: console.error };`,
          `console.log(await createProjectQuotas({ dataDir: '${disk.folder}', logger }).state());`,
        ].join('\n');
        const node = [process.execPath, '--input-type=module-typescript', '-e', script];
        const caps = ['--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'];
        const { stdout, stderr } = spawnSync('setpriv', [...caps, '--', ...node], {
          encoding: 'utf8',
        });
        assert.equal(stdout, 'denied\n', stderr);
      });

      void test('a removal that is repeated changes nothing', async () => {
        const sandboxes = createSandboxDisk(disk);
        const folders = await sandboxes.add();
        await sandboxes.quotas.release(folders.root);
        await sandboxes.quotas.release(folders.root);
        rmSync(folders.root, { recursive: true });
        await sandboxes.quotas.release(folders.root);
        assert.deepEqual(recordedIds(disk), []);
      });
    });
  });
}
