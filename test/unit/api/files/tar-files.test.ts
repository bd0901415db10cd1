// Archives of random trees, unpacked by GNU tar.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tarBytes, tarFiles } from '../../../../api/files/archive/tar-files.ts';
import { checkFilePath } from '../../../../core/files/file-path.ts';
import { limits } from '../../../../core/limits.ts';

interface Given {
  path: string;
  content: Buffer;
  mode: number;
  seconds: number;
}

const chunk = limits.blob.chunkBytes;
const lastSecond = 0o77777777777;

const given = fc.record({
  path: fc
    .oneof(
      fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), { minLength: 1 }),
      fc.array(
        fc.constantFrom('x', 'é', '-', '\n', ' ', "'").map((each) => each.repeat(60)),
        {
          minLength: 1,
          maxLength: 8,
        },
      ),
    )
    .map((segments) => segments.join('/'))
    .filter((path) => checkFilePath(path).ok),
  content: fc.oneof(
    fc.uint8Array({ maxLength: 1_100 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(0, 511, 512, 513, chunk - 1, chunk, chunk + 1)
      .map((size) => Buffer.alloc(size, 'y')),
  ),
  mode: fc.constantFrom(0o644, 0o755, 0o600, 0o444),
  seconds: fc.nat({ max: 1_700_000_000 }),
});

/** Trees in which no file is a folder of another. */
const trees = fc
  .uniqueArray(given, { selector: ({ path }) => path, maxLength: 12 })
  .map((files) =>
    files.filter(({ path }) => !files.some((other) => other.path.startsWith(`${path}/`))),
  );

const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

async function archiveOf(files: Given[]): Promise<Buffer> {
  const contents = new Map(files.map(({ content }) => [digestOf(content), content]));
  const read = async function* (sha256: string) {
    const content = contents.get(sha256) ?? Buffer.alloc(0);
    for (let at = 0; at < content.length; at += chunk) yield content.subarray(at, at + chunk);
  };
  const readSmall = async (ids: string[]) => {
    const found = [...contents].filter(([sha256]) => ids.includes(sha256));
    // A larger file is read in pieces, and a query for it would find nothing.
    expect(found.filter(([, content]) => content.length > chunk)).toEqual([]);
    return new Map(found);
  };
  const entries = files.map(({ path, content, mode, seconds }) => {
    const modifiedAt = new Date(seconds * 1_000 + 999);
    return { path, size: content.length, sha256: digestOf(content), mode, modifiedAt };
  });
  const archive = await buffer(tarFiles({ read, readSmall }, entries));
  expect(archive.length).toBe(tarBytes(entries));
  return archive;
}

test('GNU tar unpacks every tree as it was', async () => {
  await fc.assert(
    fc.asyncProperty(trees, async (files) => {
      const folder = mkdtempSync(join(tmpdir(), 'tar-'));
      try {
        const input = await archiveOf(files);
        execFileSync('tar', ['-x', '-p', '-f', '-'], { cwd: folder, input, stdio: 'pipe' });
        const found = readdirSync(folder, { recursive: true, withFileTypes: true });
        expect(found.filter((entry) => entry.isFile())).toHaveLength(files.length);
        for (const { path, content, mode, seconds } of files) {
          const { mtimeMs, mode: unpacked } = statSync(join(folder, path));
          expect(readFileSync(join(folder, path)).equals(content)).toBe(true);
          expect([unpacked & 0o7777, mtimeMs / 1_000]).toEqual([mode, seconds]);
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
    { numRuns: 25 },
  );
});

test('ignores special permissions, and times that the format does not have', async () => {
  const file = { path: 'a', content: Buffer.from('a'), mode: 0o4755, seconds: -5 };
  const early = await archiveOf([file]);
  expect(early.equals(await archiveOf([{ ...file, mode: 0o755, seconds: 0 }]))).toBe(true);
  const late = await archiveOf([{ ...file, seconds: lastSecond + 1 }]);
  expect(late.equals(await archiveOf([{ ...file, seconds: lastSecond }]))).toBe(true);
});
