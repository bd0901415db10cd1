// Files are written while the agent uses its working directory. They are written inside it or not
// at all, and reads never leave it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import {
  type StoreFileDeps,
  storeFile,
} from '../../../../../worker/sandbox/workspace/store-file.ts';
import { writeFiles } from '../../../../../worker/sandbox/workspace/write-files.ts';
import { swapForLink } from './swap-for-link.ts';
import { makeWorkspace } from './workspace-folder.ts';

let base: string;
let root: string;
let outside: string;
beforeEach(() => {
  ({ base, root } = makeWorkspace());
  outside = join(base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret');
});

const file = (path: string, mode = 0o644) => ({ path, mode });
const write = (files: { path: string; mode: number }[], content = 'new') =>
  writeFiles(root, files, () => Readable.from([Buffer.from(content)]));
const at = (path: string) => join(root, path);

const partsOf = (blobs: ReturnType<typeof stored>): StoreFileDeps => ({
  blobs,
  usedUpQuota: async () => null,
  runExclusive: (store) => store(),
});

function stored() {
  const blobs = new Map<string, Buffer>();
  return {
    blobs,
    has: async (ids: string[]) => new Set(ids.filter((id) => blobs.has(id))),
    put: async (chunks: AsyncIterable<Buffer>, id: { sha256: string; size: number }) => {
      const content = await buffer(chunks);
      const sha256 = createHash('sha256').update(content).digest('hex');
      if (sha256 !== id.sha256 || content.length !== id.size) throw new Error('has other content');
      blobs.set(sha256, content);
    },
  };
}

test('creates files and parent directories with the agent’s owner, and replaces existing files', async () => {
  mkdirSync(at('old'));
  writeFileSync(at('old/x'), 'the long previous content', { mode: 0o600 });
  const files = [file('a'), file('b/c/d', 0o755), file('old/x'), file('ünï "c'), file('empty')];
  expect(await write(files)).toEqual({ outcome: 'written' });
  for (const { path, mode } of files) {
    const { uid, gid, mode: is } = statSync(at(path));
    expect([readFileSync(at(path), 'utf8'), uid, gid, is & 0o7777]).toEqual([
      'new',
      10001,
      10001,
      mode,
    ]);
  }
  expect([statSync(at('b')).uid, statSync(at('b/c')).uid, statSync(at('b')).mode & 0o777]).toEqual([
    10001, 10001, 0o755,
  ]);
  const names = execFileSync('find', [root, '-name', '.frs-*'], { encoding: 'utf8' });
  expect(names).toBe('');
});

test('one path that cannot be written prevents all files from being written', async () => {
  mkdirSync(at('folder'));
  writeFileSync(at('plain'), '');
  symlinkSync(outside, at('link'));
  execFileSync('mkfifo', [at('pipe')]);
  for (const path of ['folder', 'plain/x', 'link/secret', 'link/new', 'pipe/x', 'link/deep/x']) {
    const answer = await write([file('first'), file(path)]);
    expect(answer, path).toEqual({ outcome: 'rejected', path, reason: expect.any(String) });
  }
  expect(readdirSync(root).sort()).toEqual(['folder', 'link', 'pipe', 'plain']);
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
});

test('a link, a pipe or a hard link at the path is replaced, never written through', async () => {
  symlinkSync(join(outside, 'secret'), at('link'));
  symlinkSync(join(outside, 'made'), at('dangling'));
  linkSync(join(outside, 'secret'), at('second'));
  execFileSync('mkfifo', [at('pipe')]);
  const names = ['link', 'dangling', 'second', 'pipe'];
  expect(await write(names.map((name) => file(name)))).toEqual({ outcome: 'written' });
  for (const name of names) expect(lstatSync(at(name)).isFile()).toBe(true);
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
});

test('a failed write leaves nothing, and the next one succeeds', async () => {
  writeFileSync(at('a'), 'before');
  async function* broken() {
    yield Buffer.from('half');
    throw new Error('the blob broke off');
  }
  await expect(writeFiles(root, [file('a'), file('b')], broken)).rejects.toThrow('broke off');
  expect([readdirSync(root), readFileSync(at('a'), 'utf8')]).toEqual([['a'], 'before']);
  // the state that a crashed process leaves
  const part = `.frs-${createHash('sha256').update('a').digest('hex').slice(0, 24)}.part`;
  writeFileSync(at(part), 'half of a longer previous attempt');
  expect(await write([file('a')])).toEqual({ outcome: 'written' });
  expect([readdirSync(root), readFileSync(at('a'), 'utf8')]).toEqual([['a'], 'new']);
});

test('a thread that constantly swaps directories for symlinks causes no write outside', async () => {
  swapForLink(at('d'), outside);
  const seen = { written: 0, rejected: 0, failed: 0 };
  const isOneSided = (): boolean => Math.min(seen.written, seen.rejected + seen.failed) <= 10;
  for (let n = 0; n < 600 || isOneSided(); n += 1) {
    const outcome = await write([file('d/secret'), file(`d/deep/${n}`)]).then(
      (answer) => answer.outcome,
      () => 'failed' as const,
    );
    seen[outcome] += 1;
  }
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
}, 120_000);

test('a thread that constantly swaps directories for symlinks causes no read from outside', async () => {
  swapForLink(at('d'), outside);
  const blobs = stored();
  for (let n = 0; n < 3_000; n += 1) await storeFile(partsOf(blobs), root, 'd/secret');
  expect([...blobs.blobs.values()].map(String)).not.toContain('secret');
}, 120_000);

test('anything that is not a regular file is missing', async () => {
  symlinkSync(join(outside, 'secret'), at('link'));
  symlinkSync(outside, at('folder-link'));
  mkdirSync(at('folder'));
  for (let n = 0; n < 16; n += 1) execFileSync('mkfifo', [at(`pipe${n}`)]);
  const pipes = Array.from({ length: 16 }, (_, n) => `pipe${n}`);
  const names = ['link', 'folder-link/secret', 'folder', 'none', 'none/x', ...pipes];
  const blobs = stored();
  const answers = await Promise.all(names.map((name) => storeFile(partsOf(blobs), root, name)));
  expect(answers.map(({ outcome }) => outcome)).toEqual(names.map(() => 'missing'));
  expect(blobs.blobs.size).toBe(0);
});

test('a file with two names is stored under each of them', async () => {
  writeFileSync(at('twice'), 'x');
  linkSync(at('twice'), at('again'));
  const blobs = stored();
  for (const name of ['twice', 'again'])
    expect(await storeFile(partsOf(blobs), root, name)).toMatchObject({
      ...{ outcome: 'stored', file: { path: name, size: 1 } },
    });
});

test('a stored file is consistent, however fast it changes', async () => {
  writeFileSync(at('small'), 'content');
  chmodSync(at('small'), 0o755);
  const blobs = stored();
  const small = await storeFile(partsOf(blobs), root, 'small');
  expect(small).toMatchObject({ outcome: 'stored', file: { size: 7, mode: 0o755 } });

  // The file is read once, so that the stored bytes are the hashed ones.
  const growing = setInterval(() => appendFileSync(at('small'), 'more'), 0);
  onTestFinished(() => clearInterval(growing));
  for (let n = 0; n < 200; n += 1) {
    const answer = await storeFile(partsOf(blobs), root, 'small');
    if (answer.outcome !== 'stored') throw new Error(answer.outcome);
    expect(blobs.blobs.get(answer.file.sha256)?.length).toBe(answer.file.size);
  }
});

test('a file whose sparse size exceeds the limit is rejected, a large one is stored', async () => {
  writeFileSync(at('sparse'), '');
  truncateSync(at('sparse'), limits.snapshot.maxBytes + 1);
  const blobs = stored();
  const limit = limits.snapshot.maxBytes;
  expect(await storeFile(partsOf(blobs), root, 'sparse')).toEqual({
    outcome: 'too_large',
    size: limit + 1,
    limit,
  });
  truncateSync(at('sparse'), limits.file.maxBytes + 1);
  expect(await storeFile(partsOf(blobs), root, 'sparse')).toMatchObject({ outcome: 'stored' });
});
