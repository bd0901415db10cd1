// Patches between random trees, applied by git.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { gitPatch } from '../../../../api/files/patch/git-patch.ts';
import { isAcceptedByGit } from '../../../../api/files/patch/quoted-path.ts';
import type { FileChange, FileVersion } from '../../../../core/files/file-change.ts';
import { limits } from '../../../../core/limits.ts';
import { type File, type Tree, trees } from './random-trees.ts';

const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

const versionOf = (file: File | undefined): FileVersion | null =>
  file === undefined
    ? null
    : { size: file.content.length, sha256: digestOf(file.content), mode: file.mode };

/** Compares two trees as the database does. */
function changesOf(from: Tree, to: Tree): FileChange[] {
  return [...new Set([...from.keys(), ...to.keys()])]
    .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .map((path) => ({
      path,
      before: versionOf(from.get(path)),
      after: versionOf(to.get(path)),
    }))
    .filter(
      ({ before, after }) =>
        before?.sha256 !== after?.sha256 ||
        ((before?.mode ?? 0) & 0o100) !== ((after?.mode ?? 0) & 0o100),
    );
}

function patchOf(from: Tree, to: Tree): Promise<Buffer> {
  const contents = new Map(
    [...from.values(), ...to.values()].map(({ content }) => [digestOf(content), content]),
  );
  const read = async function* (sha256: string) {
    const content = contents.get(sha256);
    if (content === undefined) throw new Error(`no blob ${sha256}`);
    for (let at = 0; at < content.length; at += limits.blob.chunkBytes)
      yield content.subarray(at, at + limits.blob.chunkBytes);
  };
  return buffer(gitPatch({ read }, changesOf(from, to)));
}

function write(folder: string, tree: Tree): void {
  for (const [path, { content, mode }] of tree) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    chmodSync(join(folder, path), mode);
  }
}

function readTree(folder: string): Record<string, [digest: string, isExecutable: boolean]> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    found
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [
        relative(folder, path),
        [digestOf(readFileSync(path)), (statSync(path).mode & 0o100) !== 0],
      ]),
  );
}

/** Applies the patch to the first tree, and expects the second one byte for byte. */
async function expectApplied(from: Tree, to: Tree): Promise<string> {
  const [folder, expected] = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'patch-'))) as [
    string,
    string,
  ];
  const patch = await patchOf(from, to);
  try {
    write(folder, from);
    write(expected, to);
    if (patch.length > 0) {
      const env = { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir(), LC_ALL: 'C' };
      execFileSync('git', ['apply', '--whitespace=nowarn', '-'], {
        ...{ cwd: folder, input: patch, env, stdio: ['pipe', 'pipe', 'pipe'] },
      });
    }
    expect(readTree(folder)).toEqual(readTree(expected));
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(expected, { recursive: true });
  }
  return patch.toString();
}

test('applied by git, the patch turns the first tree into the second, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(trees, async ([from, to]) => void (await expectApplied(from, to))),
    { numRuns: 60 },
  );
}, 60_000);

const tree = (files: Record<string, string | Buffer>, mode = 0o644): Tree =>
  new Map(
    Object.entries(files).map(([name, content]) => [name, { content: Buffer.from(content), mode }]),
  );

test('shows only the changed lines of a text, with their context', async () => {
  const lines = Array.from({ length: 30 }, (_, n) => `line ${n}\n`);
  const from = tree({ 'notes.txt': lines.join('') });
  lines[4] = 'changed\n';
  lines.splice(20, 1);
  const patch = await expectApplied(from, tree({ 'notes.txt': lines.join('') }));
  expect(patch.split('\n').slice(4, 14)).toEqual([
    '@@ -2,7 +2,7 @@',
    ' line 1',
    ' line 2',
    ' line 3',
    '-line 4',
    '+changed',
    ' line 5',
    ' line 6',
    ' line 7',
    '@@ -18,7 +18,6 @@',
  ]);
});

test('applies to files that become folders, and to folders that become files', async () => {
  await expectApplied(tree({ a: 'a\n', 'b/c': 'c\n' }), tree({ 'a/b': 'b\n', b: 'b\n' }));
});

test('applies to empty files, modes, bytes, and large or long texts', async () => {
  const large = 'x'.repeat(limits.blob.chunkBytes + 1);
  const long = Array.from({ length: 25_000 }, (_, n) => `${n}\n`).join('');
  const random = createHash('shake256', { outputLength: 300_000 }).update('seed').digest();
  const from = tree({ empty: '', filled: '', binary: random, large, long, nul: 'a\0', bad: 'ok' });
  const to = tree({
    ...{
      filled: 'x',
      emptied: '',
      binary: random.subarray(1),
      large: `${large}y`,
      long: `a\n${long}`,
    },
    ...{ nul: 'b\0', bad: Buffer.from([0xc3, 0x28]) },
  });
  const patch = await expectApplied(from, to);
  expect(patch.match(/^GIT binary patch$/gm)).toHaveLength(5);
  await expectApplied(to, from);
  await expectApplied(from, new Map());
  expect(await expectApplied(tree({ a: 'a' }), tree({ a: 'a' }, 0o755))).toBe(
    'diff --git a/a b/a\nold mode 100644\nnew mode 100755\n',
  );
  expect(await expectApplied(from, from)).toBe('');
});

test('applies to texts with more differences than are compared line by line', async () => {
  const lines = (factor: number) =>
    Array.from({ length: 3_000 }, (_, n) => `${n % 2 === 0 ? n : n * factor}\n`).join('');
  const patch = await expectApplied(tree({ a: lines(2) }), tree({ a: lines(3) }));
  expect(patch.match(/^@@/gm)).toHaveLength(1);
});

test('git rejects a patch for other content, and for omitted names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'patch-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const apply = (input: Buffer) => () =>
    execFileSync('git', ['apply', '-'], {
      ...{ cwd: folder, input, stdio: 'pipe' },
      env: { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() },
    });
  write(folder, tree({ a: 'other\0' }));
  expect(apply(await patchOf(tree({ a: 'a\0' }), tree({ a: 'b\0' })))).toThrow();
  for (const name of ['.git/config', 'x/.GIT/y', '.git. /x', 'git~1/x', '.git:x']) {
    expect([name, isAcceptedByGit(name)]).toEqual([name, false]);
    expect(apply(await patchOf(new Map(), tree({ [name]: 'a\n' }))), name).toThrow();
  }
  for (const name of ['.gitignore', 'a.git/x', 'git/x', '.github/x']) {
    expect([name, isAcceptedByGit(name)]).toEqual([name, true]);
    expect(apply(await patchOf(new Map(), tree({ [name]: 'a\n' }))), name).not.toThrow();
  }
});
