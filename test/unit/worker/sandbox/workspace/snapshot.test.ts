import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { settlesWithin } from '../../../../../lib/async/timeout.ts';
import { modifiedAtOf } from '../../../../../worker/sandbox/workspace/entry-attributes.ts';
import { openFile } from '../../../../../worker/sandbox/workspace/walk.ts';
import { collectSnapshot, sha256 } from './collect-snapshot.ts';
import { makeWorkspace } from './workspace-folder.ts';

let base: string;
let root: string;
let put: ReturnType<typeof makeWorkspace>['put'];
beforeEach(() => {
  ({ base, root, put } = makeWorkspace());
});

test('omits a file that is being written by the service', async () => {
  const part = `.frs-${'0123456789ab'.repeat(2)}.part`;
  put('a.txt');
  put(part);
  put(`deep/${part}`);
  put(`deep/${part}ly`);
  const { entries, result } = await collectSnapshot(root);
  expect(result).toEqual({ files: 2, skipped: 0 });
  expect(entries.map(({ path }) => path).sort()).toEqual(['a.txt', `deep/${part}ly`]);
});

test('stops at its signal while it reads the files and while it stores their contents', async () => {
  put('a.txt', 'a');
  const isAborted = { signal: AbortSignal.abort(new Error('too late')) };
  await expect(collectSnapshot(root, isAborted)).rejects.toThrow('too late');
  const stopping = new AbortController();
  const afterReading = {
    signal: stopping.signal,
    onLookup: () => stopping.abort(new Error('too late')),
  };
  await expect(collectSnapshot(root, afterReading)).rejects.toThrow('too late');
});

test('stores every file with its content, mode and path, and equal content once', async () => {
  put('a.txt', 'same');
  put('deep/er/b.txt', 'same');
  put('empty', '');
  put('ünï/codé €.txt', 'x');
  put('.git/config', 'kept too');
  execFileSync('chmod', ['755', join(root, 'a.txt')]);
  const { entries, contents, result } = await collectSnapshot(root, { existing: [sha256('x')] });
  expect(result).toEqual({ files: 5, skipped: 0 });
  expect(entries.map(({ path }) => path).sort()).toEqual([
    '.git/config',
    'a.txt',
    'deep/er/b.txt',
    'empty',
    'ünï/codé €.txt',
  ]);
  expect(entries.find(({ path }) => path === 'a.txt')).toMatchObject({
    size: 4,
    mode: 0o755,
    scope: 'run',
    sha256: sha256('same'),
  });
  expect([...contents.keys()].sort()).toEqual(
    [sha256(''), sha256('kept too'), sha256('same')].sort(),
  );
  for (const [id, content] of contents) expect(sha256(content.toString())).toBe(id);
});

test('stores links with their targets and never follows them', async () => {
  writeFileSync(join(base, 'outside'), 'secret');
  const targets = {
    absolute: join(base, 'outside'),
    everything: '/',
    itself: '.',
    loop: 'loop',
    nowhere: '../../ no\nwhere',
    'deep/bin': '../a.txt',
  };
  put('a.txt');
  mkdirSync(join(root, 'deep'));
  for (const [path, target] of Object.entries(targets)) symlinkSync(target, join(root, path));
  lutimesSync(join(root, 'loop'), 1, 1_234_567_890.123);
  const { snapshot, contents, omitted } = await collectSnapshot(root);
  expect(Object.fromEntries(snapshot.links.map(({ path, target }) => [path, target]))).toEqual(
    targets,
  );
  expect(snapshot.links.find(({ path }) => path === 'loop')?.modifiedAt).toEqual(
    new Date(1_234_567_890_123),
  );
  expect([...contents.values()].map(String)).toEqual(['a.txt']);
  expect(omitted).toMatchObject({ skippedCount: 0, skipped: [] });
});

test('stores hard links once, as names of one file', async () => {
  put('one', 'content');
  put('equal', 'content');
  mkdirSync(join(root, 'deep'));
  linkSync(join(root, 'one'), join(root, 'deep/two'));
  put('inside', 'mine');
  linkSync(join(root, 'inside'), join(base, 'name-outside'));
  const { snapshot, omitted } = await collectSnapshot(root);
  const groups = Object.fromEntries(snapshot.files.map((file) => [file.path, file]));
  expect(groups['one']?.linkGroup).toBeTypeOf('number');
  expect(groups['deep/two']).toEqual({ ...groups['one'], path: 'deep/two' });
  expect(groups['equal']).not.toHaveProperty('linkGroup');
  expect(groups['inside']).toMatchObject({ sha256: sha256('mine'), size: 4 });
  expect(omitted.skippedCount).toBe(0);
});

test('stores folders, also empty ones, and modes and times of everything', async () => {
  put('full/a.txt');
  mkdirSync(join(root, 'empty/deeper'), { recursive: true });
  chmodSync(join(root, 'full/a.txt'), 0o640);
  chmodSync(join(root, 'empty'), 0o700);
  utimesSync(join(root, 'full/a.txt'), 1, 1_700_000_000.789);
  utimesSync(join(root, 'empty'), 1, 1_600_000_000.5);
  const { snapshot } = await collectSnapshot(root);
  expect(snapshot.files).toMatchObject([{ mode: 0o640, modifiedAt: new Date(1_700_000_000_789) }]);
  expect(snapshot.folders.map(({ path }) => path).sort()).toEqual([
    'empty',
    'empty/deeper',
    'full',
  ]);
  expect(snapshot.folders.find(({ path }) => path === 'empty')).toEqual({
    path: 'empty',
    mode: 0o700,
    modifiedAt: new Date(1_600_000_000_500),
  });
});

test('omits and reports special files, special bits and names that cannot be stored', async () => {
  put('plain');
  execFileSync('mkfifo', [join(root, 'pipe')]);
  execFileSync('mknod', [join(root, 'null'), 'c', '1', '3']);
  execFileSync('python3', [
    '-c',
    `import socket; socket.socket(socket.AF_UNIX).bind('${join(root, 'sock')}')`,
  ]);
  const raw = (...bytes: number[]) => Buffer.from([...Buffer.from(`${root}/`), ...bytes]);
  writeFileSync(raw(0xff, 0xfe), 'no name');
  symlinkSync(Buffer.from([0xff, 0xfe]), join(root, 'to-no-name'));
  symlinkSync('x'.repeat(1_024), join(root, 'far'));
  symlinkSync('x'.repeat(1_025), join(root, 'too-far'));
  put('back\\slash', 'x');
  put('setuid', 'x');
  chmodSync(join(root, 'setuid'), 0o4755);
  mkdirSync(join(root, 'sticky'));
  chmodSync(join(root, 'sticky'), 0o1777);
  const { snapshot, entries, omitted, notified } = await collectSnapshot(root);
  expect(entries.map(({ path, mode }) => [path, mode]).sort()).toEqual([
    ['plain', 0o644],
    ['setuid', 0o755],
  ]);
  expect(snapshot.folders).toMatchObject([{ path: 'sticky', mode: 0o777 }]);
  expect(snapshot.links).toMatchObject([{ path: 'far' }]);
  expect(omitted.skippedCount).toBe(9);
  expect(Object.fromEntries(omitted.skipped.map(({ path, reason }) => [path, reason]))).toEqual({
    pipe: 'a named pipe',
    null: 'a device',
    sock: 'a socket',
    '\ufffd\ufffd': 'its name is not UTF-8',
    'to-no-name': 'its target is not UTF-8',
    'too-far': 'its target is longer than 1024 bytes',
    'back\\slash': 'its path contains a backslash',
    setuid: 'stored without its setuid, setgid or sticky bit',
    sticky: 'stored without its setuid, setgid or sticky bit',
  });
  expect(notified).toEqual(['run-1']);
});

test.each([
  ['before the year 1', -1e14, '0001-01-01T00:00:00.000Z'],
  ['at the year 10 000', 2.6e14, '9999-12-31T23:59:59.999Z'],
  ['that is no number', Number.NaN, '1970-01-01T00:00:00.000Z'],
  ['with a fraction of a millisecond', 1.6, '1970-01-01T00:00:00.002Z'],
])('a time %s becomes one that can be stored', (_which, mtimeMs, stored) => {
  expect(modifiedAtOf({ mtimeMs }).toISOString()).toBe(stored);
});

test('a missing directory leaves the previous snapshot', async () => {
  rmSync(root, { recursive: true });
  expect((await collectSnapshot(root)).result).toEqual({ files: 0, skipped: 0 });
});

test('named pipes do not block the file operations of this process', async () => {
  for (let i = 0; i < 16; i += 1) execFileSync('mkfifo', [join(root, `pipe${i}`)]);
  const opening = Array.from({ length: 16 }, (_, i) => openFile(root, `pipe${i}`));
  expect(await settlesWithin(10_000, Promise.all(opening))).toBe(true);
  for (const file of await Promise.all(opening)) await file?.close();
  put('after');
  expect((await collectSnapshot(root)).entries.map(({ path }) => path)).toEqual(['after']);
});
