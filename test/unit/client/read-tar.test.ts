import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { tarEnd, tarHeader, tarPadding } from '../../../api/files/archive/tar-header.ts';
import { pullArchive } from '../../../client/files/pull-archive.ts';
import { readTarEntries } from '../../../client/files/read-tar.ts';

interface TestFile {
  path: string;
  content: Buffer;
  mode: number;
}

const modifiedAt = new Date(0);

/** The archive that the service makes of these files. */
const archiveOf = (files: TestFile[]): Buffer =>
  Buffer.concat([
    ...files.flatMap(({ path, content, mode }) => [
      tarHeader({ path, size: content.length, mode, modifiedAt }),
      content,
      tarPadding(content.length),
    ]),
    tarEnd,
  ]);

/** Streams the bytes in parts that do not end at the blocks of the archive. */
function streamOf(bytes: Buffer, partBytes = 700): ReadableStream<Uint8Array<ArrayBuffer>> {
  const parts = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, index) =>
    Uint8Array.from(bytes.subarray(index * partBytes, (index + 1) * partBytes)),
  );
  return ReadableStream.from(parts);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pull-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const file = (path: string, content = 'x', mode = 0o644): TestFile => ({
  path,
  content: Buffer.from(content),
  mode,
});

test('reads every file that the service can send', async () => {
  const files = fc.array(
    fc.record({
      path: fc
        .string({ minLength: 1, maxLength: 300, unit: 'grapheme' })
        .map((path) => `a/${path}`),
      content: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
      mode: fc.constantFrom(0o644, 0o755),
    }),
    { maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(files, fc.integer({ min: 1, max: 3_000 }), async (sent, partBytes) => {
      // A path with NUL cannot exist.
      const possible = sent.filter(({ path }) => !path.includes('\0'));
      const read: TestFile[] = [];
      for await (const entry of readTarEntries(streamOf(archiveOf(possible), partBytes))) {
        read.push({ ...entry, content: Buffer.from(entry.content) });
      }
      expect(read).toEqual(possible);
    }),
    { numRuns: 50 },
  );
});

test('writes the files with their modes, and replaces those that exist', async () => {
  const folder = newFolder();
  const files = [file('a.txt', 'one'), file('b/run.sh', '#!', 0o755)];
  const pull = (some: TestFile[]) => pullArchive(streamOf(archiveOf(some)), folder);
  expect(await pull(files)).toEqual(['a.txt', 'b/run.sh']);
  await pull([file('a.txt', 'two')]);
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('two');
  expect(statSync(join(folder, 'b/run.sh')).mode & 0o111).toBe(0o111);
});

test.each([512, 1_000, 1_023])('rejects an archive that ends after %i bytes', async (bytes) => {
  const archive = archiveOf([file('a.txt', 'x'.repeat(600))]).subarray(0, bytes);
  await expect(pullArchive(streamOf(archive), newFolder())).rejects.toThrow('incomplete');
});

test.each(['../a.txt', '/tmp/a.txt', 'a/../../a.txt', '.', '..', 'link/a.txt'])(
  'writes nothing outside the folder for %s',
  async (path) => {
    const folder = newFolder();
    const outside = newFolder();
    symlinkSync(outside, join(folder, 'link'));
    await expect(pullArchive(streamOf(archiveOf([file(path)])), folder)).rejects.toThrow(
      'leads out',
    );
    expect(readdirSync(outside)).toEqual([]);
  },
);

test('replaces a link at the place of a file instead of writing through it', async () => {
  const folder = newFolder();
  const outside = newFolder();
  symlinkSync(join(outside, 'a.txt'), join(folder, 'a.txt'));
  await pullArchive(streamOf(archiveOf([file('a.txt', 'new')])), folder);
  expect(readdirSync(outside)).toEqual([]);
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('new');
});
