// A file that has not changed since the last snapshot is not read again. Folders are real; the
// bytes that this process reads are those that Linux counts.

import { randomBytes } from 'node:crypto';
import {
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  createHashCache,
  type HashCache,
} from '../../../../../worker/sandbox/workspace/hash-cache.ts';
import { storeContents } from '../../../../../worker/sandbox/workspace/snapshot.ts';
import { sha256 } from './collect-snapshot.ts';

const miB = 1024 ** 2;
/** A time that `utimes` sets exactly. */
const whole = new Date('2026-01-02T03:04:05.000Z');
const names = ['a', 'b', 'c', 'd'];
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hashes-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const name of names) writeFileSync(at(name), randomBytes(8 * miB));
});
const at = (name: string): string => join(root, name);
/** A cache for which all files were changed long ago. */
const settled = (): HashCache => createHashCache(() => Date.now() + 60_000);

const bytesRead = (): number =>
  Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

interface Taken {
  hashes: Record<string, string>;
  lookedUp: number;
  read: number;
}

async function take(cache: HashCache, { commits = true } = {}): Promise<Taken> {
  let lookedUp = 0;
  const blobs = {
    has: async (ids: string[]) => {
      lookedUp += ids.length;
      return new Set<string>();
    },
    put: async (chunks: AsyncIterable<Buffer>, id: { sha256: string }) => {
      if (sha256(await buffer(chunks)) !== id.sha256) throw new Error('has other content');
    },
  };
  const before = bytesRead();
  const found = await storeContents(blobs, root, { hashes: cache });
  const read = bytesRead() - before;
  if (found === null) throw new Error('the folder is gone');
  if (commits) found.onListed();
  const hashes = Object.fromEntries(found.snapshot.files.map((one) => [one.path, one.sha256]));
  return { hashes, lookedUp, read };
}

const expectCurrent = ({ hashes }: Taken): void =>
  expect(hashes).toEqual(
    Object.fromEntries(names.map((name) => [name, sha256(readFileSync(at(name)))])),
  );

test('of four files, the second snapshot reads and looks up only the one that changed', async () => {
  const cache = settled();
  expectCurrent(await take(cache));
  writeFileSync(at('b'), randomBytes(8 * miB));
  const second = await take(cache);
  expectCurrent(second);
  expect(second.lookedUp).toBe(1);
  expect(second.read).toBeLessThan(2 * 8 * miB + miB); // hashed, then stored
  const third = await take(cache);
  expectCurrent(third);
  expect(third.lookedUp).toBe(0);
  expect(third.read).toBeLessThan(miB);
});

test.each([
  [
    'with the same size and modification time',
    (name: string) => {
      writeFileSync(at(name), randomBytes(8 * miB));
      utimesSync(at(name), whole, whole);
    },
  ],
  [
    'by renaming another over it',
    (name: string) => {
      writeFileSync(at('other'), randomBytes(8 * miB));
      renameSync(at('other'), at(name));
    },
  ],
])('a file that was replaced %s is read again', async (_how, replace) => {
  const cache = settled();
  utimesSync(at('c'), whole, whole);
  await take(cache);
  replace('c');
  const second = await take(cache);
  expectCurrent(second);
  expect(second.lookedUp).toBe(1);
});

test('a file that was changed just before it was read is read again', async () => {
  const { ctimeMs } = statSync(at('d')); // the file that was written last
  const cache = createHashCache(() => ctimeMs);
  await take(cache);
  expect((await take(cache)).lookedUp).toBe(4);
});

test('after a snapshot that was not committed, every file is read again', async () => {
  const cache = settled();
  await take(cache);
  await take(cache, { commits: false });
  expect((await take(cache)).lookedUp).toBe(4);
});
