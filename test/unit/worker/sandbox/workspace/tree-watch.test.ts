import { execFileSync } from 'node:child_process';
import { renameSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import { createPauseState, type PauseState } from '../../../../../worker/sandbox/pause-state.ts';
import { type DiskUsage, diskUsage } from '../../../../../worker/sandbox/workspace/disk-usage.ts';
import { watchFileTree } from '../../../../../worker/sandbox/workspace/tree-watch.ts';
import { makeWorkspace } from './workspace-folder.ts';

let base: string;
let root: string;
let put: ReturnType<typeof makeWorkspace>['put'];
let pause: PauseState;
beforeEach(() => {
  pause = createPauseState();
  ({ base, root, put } = makeWorkspace());
});

test('the tree is published when it changes, without links and heavy directories', async () => {
  put('b.txt');
  put('a/c.txt');
  put('.git/config');
  put('node_modules/x/y.js');
  symlinkSync('/etc', join(root, 'etc'));
  const trees: string[] = [];
  const watch = watchFileTree(root, { pause, publish: async (json) => trees.push(json) });
  await expect.poll(() => trees.length).toBe(1);
  expect(JSON.parse(trees[0] ?? '')).toEqual([
    {
      name: 'a',
      path: 'a',
      type: 'directory',
      children: [{ name: 'c.txt', path: 'a/c.txt', type: 'file' }],
    },
    { name: 'b.txt', path: 'b.txt', type: 'file' },
  ]);
  watch.notify();
  renameSync(join(root, 'b.txt'), join(root, 'd.txt'));
  await watch.finish();
  expect(trees).toHaveLength(2);
  expect(trees[1]).toContain('d.txt');
  await watch.finish();
  expect(trees).toHaveLength(2);
});

test('the tree of a paused sandbox is not scanned again before the pause ends', async () => {
  const trees: string[] = [];
  pause.markPaused();
  const watch = watchFileTree(root, { pause, publish: async (json) => trees.push(json) });
  await expect.poll(() => trees.length).toBe(1);
  put('written.txt');
  watch.notify();
  await sleep(limits.fileTree.everyMs + 500);
  expect(trees).toHaveLength(1);
  pause.markRunning();
  await expect.poll(() => trees.at(-1)).toContain('written.txt');
  await watch.finish();
});

test('a host that writes files to a paused sandbox has its tree scanned', async () => {
  const trees: string[] = [];
  pause.markPaused();
  const watch = watchFileTree(root, { pause, publish: async (json) => trees.push(json) });
  await expect.poll(() => trees.length).toBe(1);
  put('injected.txt');
  watch.notify();
  pause.noteChange();
  await expect.poll(() => trees.at(-1), { timeout: 10_000 }).toContain('injected.txt');
  expect(pause.pauseEnd().aborted).toBe(false);
  await watch.finish();
});

test('a tree of any depth and breadth is listed in bounded time and size', async () => {
  const script = `
import os
os.chdir(${JSON.stringify(root)})
for i in range(3000): open('f%d' % i, 'w').close()
for i in range(4000):
    os.mkdir('d' * 100); os.chdir('d' * 100)
`;
  execFileSync('python3', ['-c', script]);
  const trees: string[] = [];
  const startedAt = performance.now();
  const watch = watchFileTree(root, { pause, publish: async (json) => trees.push(json) });
  await watch.finish();
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(JSON.parse(trees[0] ?? '')).toHaveLength(3_000);
  const usage = await usageOf([root]);
  expect(usage.bytes).toBeGreaterThan(4_000 * 4_096);
  expect(usage.inodes).toBe(7_001);
  execFileSync('rm', ['-rf', root]);
});

test('counts the disk blocks of a tree, not its apparent size', async () => {
  put('sparse', '');
  truncateSync(join(root, 'sparse'), 1024 ** 3);
  put('real', Buffer.alloc(3 * 1024 ** 2, 'x'));
  const { bytes } = await usageOf([root]);
  expect(bytes).toBeGreaterThan(3 * 1024 ** 2 - 1);
  expect(bytes).toBeLessThan(4 * 1024 ** 2);
  const twice = await usageOf([root, base]);
  expect(twice.bytes).toBeLessThan(4 * 1024 ** 2);
  expect(await usageOf([join(base, 'gone')])).toEqual({ bytes: 0, inodes: 0 });
});

async function usageOf(paths: string[]): Promise<DiskUsage> {
  const usage = await diskUsage(paths, 60_000);
  if (usage === null || usage === 'timeout') throw new Error(`no usage: ${usage}`);
  return usage;
}
