// A working directory belongs to its agent. However it changes during a snapshot, the snapshot must
// never read outside it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { SkippedEntries, Snapshot } from '../../../../../core/files/file-entry.ts';
import { limits } from '../../../../../core/limits.ts';
import { settlesWithin } from '../../../../../lib/async/timeout.ts';
import { modifiedAtOf } from '../../../../../worker/sandbox/workspace/entry-attributes.ts';
import { createFileHasher } from '../../../../../worker/sandbox/workspace/hash-file.ts';
import { snapshotWorkspace } from '../../../../../worker/sandbox/workspace/snapshot.ts';
import { openFile } from '../../../../../worker/sandbox/workspace/walk.ts';
import { snapshotOf } from '../../../../support/snapshot-of.ts';
import { makeWorkspace } from './workspace-folder.ts';

let base: string;
let root: string;
let put: ReturnType<typeof makeWorkspace>['put'];
beforeEach(() => {
  ({ base, root, put } = makeWorkspace());
});

interface Collected {
  stored: Snapshot;
  entries: Snapshot['files'];
  contents: Map<string, Buffer>;
  left: SkippedEntries;
  result: { files: number; skipped: number };
  notified: string[];
}

async function collect(
  existing: string[] = [],
  onLookup: (sha256s: string[]) => void = () => undefined,
  limit: { maxFiles?: number } = {},
): Promise<Collected> {
  const contents = new Map<string, Buffer>();
  let stored = snapshotOf([]);
  let left: SkippedEntries = { skippedCount: 0, skipped: [] };
  const notified: string[] = [];
  const deps = {
    blobs: {
      has: (sha256s: string[]) => {
        onLookup(sha256s);
        return Promise.resolve(new Set(sha256s.filter((id) => existing.includes(id))));
      },
      put: async (chunks: AsyncIterable<Buffer>, id: { sha256: string }) => {
        const content = await buffer(chunks);
        const is = createHash('sha256').update(content).digest('hex');
        if (is !== id.sha256) throw new Error('has other content');
        contents.set(is, content);
      },
    },
    files: {
      replaceSnapshot: async (_of: object, found: Snapshot) => {
        stored = found;
        return true;
      },
    },
    runs: {
      recordSnapshot: async (_of: object, recorded: SkippedEntries) => {
        left = recorded;
        return recorded.skippedCount > 0;
      },
    },
    frameStream: { notify: async (runId: string) => notified.push(runId) > 0 },
    now: () => new Date(),
  };
  const result = await snapshotWorkspace(deps, {
    ref: { runId: 'run-1', generation: 1 },
    root,
    ...limit,
  });
  return { stored, entries: stored.files, contents, left, result, notified };
}

const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');

test('omits a file that is being written by the service', async () => {
  const part = `.frs-${'0123456789ab'.repeat(2)}.part`;
  put('a.txt');
  put(part);
  put(`deep/${part}`);
  put(`deep/${part}ly`);
  const { entries, result } = await collect();
  expect(result).toEqual({ files: 2, skipped: 0 });
  expect(entries.map(({ path }) => path).sort()).toEqual(['a.txt', `deep/${part}ly`]);
});

test('stores every file with its content, mode and path, and equal content once', async () => {
  put('a.txt', 'same');
  put('deep/er/b.txt', 'same');
  put('empty', '');
  put('ünï/codé €.txt', 'x');
  put('.git/config', 'kept too');
  execFileSync('chmod', ['755', join(root, 'a.txt')]);
  const { entries, contents, result } = await collect([sha256('x')]);
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
  const { stored, contents, left } = await collect();
  expect(Object.fromEntries(stored.links.map(({ path, target }) => [path, target]))).toEqual(
    targets,
  );
  expect(stored.links.find(({ path }) => path === 'loop')?.modifiedAt).toEqual(
    new Date(1_234_567_890_123),
  );
  expect([...contents.values()].map(String)).toEqual(['a.txt']);
  expect(left).toMatchObject({ skippedCount: 0, skipped: [] });
});

test('stores hard links once, as names of one file', async () => {
  put('one', 'content');
  put('equal', 'content');
  mkdirSync(join(root, 'deep'));
  linkSync(join(root, 'one'), join(root, 'deep/two'));
  put('inside', 'mine');
  linkSync(join(root, 'inside'), join(base, 'name-outside'));
  const { stored, left } = await collect();
  const groups = Object.fromEntries(stored.files.map((file) => [file.path, file]));
  expect(groups['one']?.linkGroup).toBeTypeOf('number');
  expect(groups['deep/two']).toEqual({ ...groups['one'], path: 'deep/two' });
  expect(groups['equal']).not.toHaveProperty('linkGroup');
  expect(groups['inside']).toMatchObject({ sha256: sha256('mine'), size: 4 });
  expect(left.skippedCount).toBe(0);
});

test('counts the bytes of hard links once', async () => {
  put('first', '12345678');
  linkSync(join(root, 'first'), join(root, 'second'));
  put('small', '12');
  put('more', '1');
  const hashFile = createFileHasher(root, 10);
  const outcomes: string[] = [];
  for (const path of ['first', 'small', 'second', 'more'])
    outcomes.push((await hashFile(path)).outcome);
  expect(outcomes).toEqual(['hashed', 'hashed', 'hashed', 'too_large']);
});

test('stores folders, also empty ones, and modes and times of everything', async () => {
  put('full/a.txt');
  mkdirSync(join(root, 'empty/deeper'), { recursive: true });
  chmodSync(join(root, 'full/a.txt'), 0o640);
  chmodSync(join(root, 'empty'), 0o700);
  utimesSync(join(root, 'full/a.txt'), 1, 1_700_000_000.789);
  utimesSync(join(root, 'empty'), 1, 1_600_000_000.5);
  const { stored } = await collect();
  expect(stored.files).toMatchObject([{ mode: 0o640, modifiedAt: new Date(1_700_000_000_789) }]);
  expect(stored.folders.map(({ path }) => path).sort()).toEqual(['empty', 'empty/deeper', 'full']);
  expect(stored.folders.find(({ path }) => path === 'empty')).toEqual({
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
  const { stored, entries, left, notified } = await collect();
  expect(entries.map(({ path, mode }) => [path, mode]).sort()).toEqual([
    ['plain', 0o644],
    ['setuid', 0o755],
  ]);
  expect(stored.folders).toMatchObject([{ path: 'sticky', mode: 0o777 }]);
  expect(stored.links).toMatchObject([{ path: 'far' }]);
  expect(left.skippedCount).toBe(9);
  expect(Object.fromEntries(left.skipped.map(({ path, reason }) => [path, reason]))).toEqual({
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

test('lists a bounded number of omitted entries, and counts all', async () => {
  const { skippedMax } = limits.snapshot;
  const omitted = (count: number) => {
    for (let i = 0; i < count; i += 1) put(`back\\slash${i}`);
    return collect();
  };
  const full = await omitted(skippedMax);
  expect([full.left.skippedCount, full.left.skipped.length]).toEqual([skippedMax, skippedMax]);
  const beyond = await omitted(skippedMax + 1);
  expect([beyond.left.skippedCount, beyond.left.skipped.length]).toEqual([
    skippedMax + 1,
    skippedMax,
  ]);
});

test.each([
  ['before the year 1', -1e14, '0001-01-01T00:00:00.000Z'],
  ['at the year 10 000', 2.6e14, '9999-12-31T23:59:59.999Z'],
  ['that is no number', Number.NaN, '1970-01-01T00:00:00.000Z'],
  ['with a fraction of a millisecond', 1.6, '1970-01-01T00:00:00.002Z'],
])('a time %s becomes one that can be stored', (_which, mtimeMs, stored) => {
  expect(modifiedAtOf({ mtimeMs }).toISOString()).toBe(stored);
});

test('a huge sparse file is omitted, and the files after it are stored', async () => {
  put('giant', '');
  truncateSync(join(root, 'giant'), 1024 ** 4);
  put('small');
  const { entries, left } = await collect();
  expect(entries.map(({ path }) => path)).toEqual(['small']);
  expect(left.skipped).toEqual([{ path: 'giant', reason: 'over the size limit' }]);
});

test('if there are too many files, those of a package manager are omitted first', async () => {
  for (let i = 0; i < 20; i += 1) put(`node_modules/f${i}`);
  expect((await collect([], undefined, { maxFiles: 20 })).result).toEqual({
    files: 20,
    skipped: 0,
  });
  for (let i = 0; i < 10; i += 1) put(`src/f${i}`);
  const { entries, left, result } = await collect([], undefined, { maxFiles: 20 });
  expect(result).toEqual({ files: 20, skipped: 10 });
  expect(entries.filter(({ path }) => path.startsWith('src/'))).toHaveLength(10);
  expect(left.skipped[0]).toMatchObject({ reason: 'over the number of files' });
});

test('links count as files, and folders have a separate limit', async () => {
  put('a');
  symlinkSync('a', join(root, 'b'));
  for (const name of ['c', 'd']) mkdirSync(join(root, name));
  const full = await collect([], undefined, { maxFiles: 2 });
  expect(full.left.skippedCount).toBe(0);
  symlinkSync('a', join(root, 'e'));
  mkdirSync(join(root, 'f'));
  const { stored, left } = await collect([], undefined, { maxFiles: 2 });
  expect(stored.files.length + stored.links.length).toBe(2);
  expect(stored.folders).toHaveLength(2);
  expect(left.skipped.map(({ reason }) => reason).sort()).toEqual([
    'over the number of files',
    'over the number of folders',
  ]);
});

test('of files that change during the snapshot the previous versions remain', async () => {
  put('gone', 'g');
  put('changed', 'before');
  put('twice/a', 'same');
  put('twice/b', 'same');
  put('stays');
  const { stored, entries, contents, left } = await collect([], (sha256s) => {
    if (sha256s.length < 4) return;
    rmSync(join(root, 'gone'));
    put('changed', 'after!');
    rmSync(join(root, 'twice/a'));
  });
  expect(entries.map(({ path }) => path).sort()).toEqual(['stays', 'twice/a', 'twice/b']);
  expect(entries.every((entry) => contents.has(entry.sha256))).toBe(true);
  expect(stored.changed).toEqual(['changed']);
  expect(left.skipped).toEqual([{ path: 'changed', reason: 'changed while it was stored' }]);
});

test('a missing directory leaves the previous snapshot', async () => {
  rmSync(root, { recursive: true });
  expect((await collect()).result).toEqual({ files: 0, skipped: 0 });
});

test('a thread that constantly swaps files for symlinks gets no content from outside', async () => {
  const outside = join(base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'file'), 'secret');
  put('a/file', 'inside');
  const attacker = new Worker(
    `const { renameSync, symlinkSync } = require('node:fs');
     const { root, outside } = require('node:worker_threads').workerData;
     symlinkSync(outside, root + '/evil');
     for (;;) {
       try { renameSync(root + '/a', root + '/good'); } catch {}
       try { renameSync(root + '/evil', root + '/a'); } catch {}
       try { renameSync(root + '/a', root + '/evil'); } catch {}
       try { renameSync(root + '/good', root + '/a'); } catch {}
     }`,
    { eval: true, workerData: { root, outside } },
  );
  onTestFinished(async () => void (await attacker.terminate()));
  const seen = { inside: 0, nothing: 0 };
  for (let reads = 0; reads < 2_000; reads += 1) {
    const file = await openFile(root, 'a/file');
    if (file === null) {
      seen.nothing += 1;
      continue;
    }
    const content = await file.readFile('utf8');
    await file.close();
    expect(content).toBe('inside');
    seen.inside += 1;
  }
  expect(seen.inside).toBeGreaterThan(0);
  expect(seen.nothing).toBeGreaterThan(0);
}, 120_000);

test('named pipes do not block the file operations of this process', async () => {
  for (let i = 0; i < 16; i += 1) execFileSync('mkfifo', [join(root, `pipe${i}`)]);
  const opening = Array.from({ length: 16 }, (_, i) => openFile(root, `pipe${i}`));
  expect(await settlesWithin(10_000, Promise.all(opening))).toBe(true);
  for (const file of await Promise.all(opening)) await file?.close();
  put('after');
  expect((await collect()).entries.map(({ path }) => path)).toEqual(['after']);
});
