// A working directory belongs to its agent. However it changes during a snapshot, the snapshot must
// never read outside it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { FileEntry } from '../../../../../core/files/file-entry.ts';
import { settlesWithin } from '../../../../../lib/async/timeout.ts';
import { snapshotWorkspace } from '../../../../../worker/sandbox/workspace/snapshot.ts';
import { openFile } from '../../../../../worker/sandbox/workspace/walk.ts';
import { makeWorkspace } from './workspace-folder.ts';

let base: string;
let root: string;
let put: ReturnType<typeof makeWorkspace>['put'];
beforeEach(() => {
  ({ base, root, put } = makeWorkspace());
});

interface Collected {
  entries: FileEntry[];
  contents: Map<string, Buffer>;
  snapshot: { skippedCount?: number; skipped?: { path: string; reason: string }[] };
  result: { files: number; skipped: number };
}

async function collect(
  existing: string[] = [],
  onLookup: (sha256s: string[]) => void = () => undefined,
  limit: { maxFiles?: number } = {},
): Promise<Collected> {
  const contents = new Map<string, Buffer>();
  let entries: FileEntry[] = [];
  let snapshot = {};
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
      replaceSnapshot: async (_of: object, found: FileEntry[]) => {
        entries = found;
        return true;
      },
    },
    runs: {
      recordSnapshot: async (_of: object, recorded: object) => void (snapshot = recorded),
    },
    now: () => new Date(),
  };
  const result = await snapshotWorkspace(deps, {
    ref: { runId: 'run-1', generation: 1 },
    root,
    ...limit,
  });
  return { entries, contents, snapshot, result };
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

test('omits and reports what is not a regular file with a single name', async () => {
  put('plain');
  put('twice');
  writeFileSync(join(base, 'outside'), 'secret');
  linkSync(join(root, 'twice'), join(base, 'other-name'));
  symlinkSync(join(base, 'outside'), join(root, 'link'));
  symlinkSync('/', join(root, 'everything'));
  symlinkSync('.', join(root, 'itself'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  execFileSync('python3', [
    '-c',
    `import socket; socket.socket(socket.AF_UNIX).bind('${join(root, 'sock')}')`,
  ]);
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), 'no name');
  put('back\\slash', 'x');
  const { entries, snapshot } = await collect();
  expect(entries.map(({ path }) => path)).toEqual(['plain']);
  expect(snapshot.skippedCount).toBe(8);
  const reasons = Object.fromEntries(
    (snapshot.skipped ?? []).map(({ path, reason }) => [path, reason]),
  );
  expect(reasons).toMatchObject({
    twice: 'has a second name',
    link: 'a link',
    everything: 'a link',
    itself: 'a link',
    pipe: 'not a file',
    sock: 'not a file',
    'back\\slash': 'its path contains a backslash',
  });
});

test('a huge sparse file is omitted, and the files after it are stored', async () => {
  put('giant', '');
  truncateSync(join(root, 'giant'), 1024 ** 4);
  put('small');
  const { entries, snapshot } = await collect();
  expect(entries.map(({ path }) => path)).toEqual(['small']);
  expect(snapshot.skipped).toEqual([{ path: 'giant', reason: 'over the size limit' }]);
});

test('if there are too many files, those of a package manager are omitted first', async () => {
  for (let i = 0; i < 20; i += 1) put(`node_modules/f${i}`);
  expect((await collect([], undefined, { maxFiles: 20 })).result).toEqual({
    files: 20,
    skipped: 0,
  });
  for (let i = 0; i < 10; i += 1) put(`src/f${i}`);
  const { entries, snapshot, result } = await collect([], undefined, { maxFiles: 20 });
  expect(result).toEqual({ files: 20, skipped: 10 });
  expect(entries.filter(({ path }) => path.startsWith('src/'))).toHaveLength(10);
  expect(snapshot.skipped?.[0]).toMatchObject({ reason: 'over the number of files' });
});

test('files that change during the snapshot are omitted and reported', async () => {
  put('gone', 'g');
  put('changed', 'before');
  put('twice/a', 'same');
  put('twice/b', 'same');
  put('stays');
  const { entries, contents, snapshot } = await collect([], (sha256s) => {
    if (sha256s.length < 4) return;
    rmSync(join(root, 'gone'));
    put('changed', 'after!');
    rmSync(join(root, 'twice/a'));
  });
  expect(entries.map(({ path }) => path).sort()).toEqual(['stays', 'twice/a', 'twice/b']);
  expect(entries.every((entry) => contents.has(entry.sha256))).toBe(true);
  expect(snapshot.skipped?.map(({ path }) => path).sort()).toEqual(['changed', 'gone']);
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
