import { linkSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import { createFileHasher } from '../../../../../worker/sandbox/workspace/hash-file.ts';
import { collectSnapshot } from './collect-snapshot.ts';
import { makeWorkspace } from './workspace-folder.ts';

let root: string;
let put: ReturnType<typeof makeWorkspace>['put'];
beforeEach(() => {
  ({ root, put } = makeWorkspace());
});

test('counts the bytes of hard links once', async () => {
  put('first', '12345678');
  linkSync(join(root, 'first'), join(root, 'second'));
  put('small', '12');
  put('more', '1');
  const hashFile = createFileHasher(root, { maxBytes: 10, hashes: null });
  const outcomes: string[] = [];
  for (const path of ['first', 'small', 'second', 'more'])
    outcomes.push((await hashFile(path)).outcome);
  expect(outcomes).toEqual(['hashed', 'hashed', 'hashed', 'too_large']);
});

test('lists a bounded number of omitted entries, and counts all', async () => {
  const { skippedMax } = limits.snapshot;
  const countsWith = async (names: number) => {
    for (let i = 0; i < names; i += 1) put(`back\\slash${i}`);
    const { omitted } = await collectSnapshot(root);
    return [omitted.skippedCount, omitted.skipped.length];
  };
  expect(await countsWith(skippedMax)).toEqual([skippedMax, skippedMax]);
  expect(await countsWith(skippedMax + 1)).toEqual([skippedMax + 1, skippedMax]);
});

test('a huge sparse file is omitted, and the files after it are stored', async () => {
  put('giant', '');
  truncateSync(join(root, 'giant'), 1024 ** 4);
  put('small');
  const { entries, omitted } = await collectSnapshot(root);
  expect(entries.map(({ path }) => path)).toEqual(['small']);
  expect(omitted.skipped).toEqual([{ path: 'giant', reason: 'over the size limit' }]);
});

test('if there are too many files, those of a package manager are omitted first', async () => {
  for (let i = 0; i < 20; i += 1) put(`node_modules/f${i}`);
  expect((await collectSnapshot(root, { maxFiles: 20 })).result).toEqual({
    files: 20,
    skipped: 0,
  });
  for (let i = 0; i < 10; i += 1) put(`src/f${i}`);
  const { entries, omitted, result } = await collectSnapshot(root, { maxFiles: 20 });
  expect(result).toEqual({ files: 20, skipped: 10 });
  expect(entries.filter(({ path }) => path.startsWith('src/'))).toHaveLength(10);
  expect(omitted.skipped[0]).toMatchObject({ reason: 'over the file limit' });
});

test('links count as files, and folders have a separate limit', async () => {
  put('a');
  symlinkSync('a', join(root, 'b'));
  for (const name of ['c', 'd']) mkdirSync(join(root, name));
  const full = await collectSnapshot(root, { maxFiles: 2 });
  expect(full.omitted.skippedCount).toBe(0);
  symlinkSync('a', join(root, 'e'));
  mkdirSync(join(root, 'f'));
  const { snapshot, omitted } = await collectSnapshot(root, { maxFiles: 2 });
  expect(snapshot.files.length + snapshot.links.length).toBe(2);
  expect(snapshot.folders).toHaveLength(2);
  expect(omitted.skipped.map(({ reason }) => reason).sort()).toEqual([
    'over the file limit',
    'over the folder limit',
  ]);
});
