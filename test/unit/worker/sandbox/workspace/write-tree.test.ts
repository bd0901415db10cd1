// The content of a snapshot is restored into real folders. Its links may lead anywhere, and nothing
// follows them. Here they lead into a folder of the test, because a guard may be broken.

import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { FileEntry, Snapshot } from '../../../../../core/files/file-entry.ts';
import { readTree } from '../../../../../worker/sandbox/workspace/read-tree.ts';
import { createSkippedList } from '../../../../../worker/sandbox/workspace/skipped-entries.ts';
import { writeTree } from '../../../../../worker/sandbox/workspace/write-tree.ts';
import { snapshotOf } from '../../../../support/snapshot-of.ts';
import { swapForLink } from './swap-for-link.ts';
import { makeWorkspace } from './workspace-folder.ts';

const agentId = 10_001;
const modifiedAt = new Date('2026-01-02T03:04:05.678Z');

let base: string;
let root: string;
let outside: string;
beforeEach(() => {
  ({ base, root } = makeWorkspace());
  outside = join(base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret', { mode: 0o600 });
});

const at = (path: string): string => join(root, path);
const file = (path: string, more: Partial<FileEntry> = {}): FileEntry => ({
  ...{ path, sha256: path, size: path.length, mode: 0o644, scope: 'run', modifiedAt },
  ...more,
});
const link = (path: string, target: string) => ({ path, target, modifiedAt });
const folder = (path: string, mode = 0o755) => ({ path, mode, modifiedAt });

/** The content of a blob is its id. `onContent` runs before each batch of files is written. */
const blobs = (onContent: () => void = () => undefined) => ({
  read: async function* read(): AsyncGenerator<Buffer> {},
  readSmall: async (ids: string[]) => {
    onContent();
    return new Map(ids.map((id) => [id, Buffer.from(id)]));
  },
});

const restore = (tree: Snapshot, onContent?: () => void) => writeTree(blobs(onContent), root, tree);

const everything = snapshotOf(
  [
    file('bin/tool', { mode: 0o755 }),
    file('one', { linkGroup: 0, sha256: 'same' }),
    file('bin/two', { linkGroup: 0, sha256: 'same' }),
    file('three', { linkGroup: 1, sha256: 'same' }),
  ],
  {
    folders: [folder('bin', 0o700), folder('empty'), folder('empty/deeper', 0o1)],
    links: [
      link('current', 'bin'),
      link('bin/loop', 'loop'),
      link('up', '../outside/secret'),
      link('out', '../outside'),
    ],
  },
);

function expectEverything(): void {
  expect(readFileSync(at('bin/tool'), 'utf8')).toBe('bin/tool');
  expect(statSync(at('one')).ino).toBe(statSync(at('bin/two')).ino);
  expect(statSync(at('one')).nlink).toBe(2);
  expect(statSync(at('three')).nlink).toBe(1);
  for (const { path, target } of everything.links) expect(readlinkSync(at(path))).toBe(target);
  for (const { path, mode } of [...everything.folders, ...everything.files])
    expect([path, lstatSync(at(path)).mode & 0o7777]).toEqual([path, mode]);
  const paths = [...everything.files, ...everything.folders, ...everything.links];
  for (const { path } of paths) {
    const { uid, gid, mtime } = lstatSync(at(path));
    expect([path, uid, gid, mtime]).toEqual([path, agentId, agentId, modifiedAt]);
  }
}

test('restores files, links, hard links and folders with owner, mode and time', async () => {
  const { uid, mtimeMs } = statSync(join(outside, 'secret'));
  expect(await restore(everything)).toEqual({ outcome: 'written' });
  expectEverything();
  expect(statSync(join(outside, 'secret'))).toMatchObject({ uid, mtimeMs });
});

test('a second call completes what a crashed process left', async () => {
  await restore(everything);
  rmSync(at('current'));
  rmSync(at('bin/two'));
  const part = `.frs-${createHash('sha256').update('two').digest('hex').slice(0, 24)}.part`;
  symlinkSync(outside, at(`bin/${part}`));
  expect(await restore(everything)).toEqual({ outcome: 'written' });
  expectEverything();
  expect(readdirSync(at('bin')).sort()).toEqual(['loop', 'tool', 'two']);
});

test('a restored tree is read as the same tree', async () => {
  await restore(everything);
  const skipped = createSkippedList();
  const read = await readTree(root, { maxFiles: 100, skipped, hashes: null });
  const byPath = <E extends { path: string }>(entries: E[]): E[] =>
    [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  expect(byPath(read.links)).toEqual(byPath(everything.links));
  expect(byPath(read.folders)).toEqual(byPath(everything.folders));
  expect(byPath(read.files)).toMatchObject(
    byPath(everything.files).map(({ path, mode }) => ({ path, mode, modifiedAt })),
  );
  expect(skipped.skippedCount).toBe(0);
});

test.each([
  ['a folder was swapped for a link', [file('sub/new')], snapshotOf([]).links],
  ['a folder is a link in the snapshot', [], [link('sub', '../outside'), link('sub/new', 'x')]],
])('writes nothing outside if %s', async (_how, files, links) => {
  if (links.length === 0) symlinkSync(outside, at('sub'));
  const answer = await restore(snapshotOf(files, { links }));
  expect(answer).toMatchObject({ outcome: 'rejected', path: 'sub/new' });
  expect(readdirSync(outside)).toEqual(['secret']);
});

test('a folder that is swapped during the restore does not lead outside', async () => {
  const folders = [folder('sub', 0o700)];
  const swap = (): void => {
    renameSync(at('sub'), at('moved'));
    symlinkSync(outside, at('sub'));
  };
  const before = statSync(outside);
  const swapped = await restore(snapshotOf([file('a')], { folders }), swap);
  expect(swapped).toMatchObject({ outcome: 'rejected', path: 'sub' });
  const { uid, gid, mode, mtimeMs } = statSync(outside);
  expect({ uid, gid, mode, mtimeMs }).toMatchObject({
    ...{ uid: before.uid, gid: before.gid, mode: before.mode, mtimeMs: before.mtimeMs },
  });
});

test('a name that is swapped for a link becomes no name of a file outside', async () => {
  const names = [
    file('first', { linkGroup: 0, sha256: 'x' }),
    file('second', { linkGroup: 0, sha256: 'x' }),
  ];
  const more = Array.from({ length: 150 }, (_, n) => file(`more${n}`));
  let batches = 0;
  const swap = (): void => {
    batches += 1;
    if (batches < 2) return;
    rmSync(at('first'));
    symlinkSync(join(outside, 'secret'), at('first'));
  };
  await restore(snapshotOf([...names, ...more]), swap);
  expect(batches).toBe(2);
  expect(lstatSync(at('second')).isSymbolicLink()).toBe(true);
  expect(statSync(join(outside, 'secret'))).toMatchObject({ nlink: 1, uid: 0 });
});

test('a thread that constantly swaps a folder for a link causes no change outside', async () => {
  swapForLink(at('d'), outside);
  const before = statSync(outside);
  const tree = snapshotOf([file('d/secret', { mode: 0o777 })], {
    folders: [folder('d', 0o777)],
    links: [link('d/link', join(outside, 'secret'))],
  });
  const seen = { written: 0, other: 0 };
  for (let n = 0; n < 600 || Math.min(seen.written, seen.other) === 0; n += 1) {
    const outcome = await restore(tree).then(
      (answer) => answer.outcome,
      () => 'failed',
    );
    seen[outcome === 'written' ? 'written' : 'other'] += 1;
  }
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
  const { uid, mode, mtimeMs } = statSync(outside);
  expect([uid, mode, mtimeMs]).toEqual([before.uid, before.mode, before.mtimeMs]);
}, 120_000);
