import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { filesIn, hashOfFolder } from '../../../dev/lib/hash.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowrun-hash-'));
  mkdirSync(join(folder, 'b'));
  writeFileSync(join(folder, 'b/two'), '2');
  writeFileSync(join(folder, 'one'), '1');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('the hash does not depend on the times of files', () => {
  const before = hashOfFolder(folder);
  utimesSync(join(folder, 'one'), 0, 0);
  expect(hashOfFolder(folder)).toBe(before);
});

test.each([
  ['another content', () => writeFileSync(join(folder, 'one'), '1!')],
  ['another name', () => writeFileSync(join(folder, 'three'), '')],
  ['another mode', () => chmodSync(join(folder, 'one'), 0o755)],
])('%s changes the hash', (_what, change) => {
  const before = hashOfFolder(folder);
  change();
  expect(hashOfFolder(folder)).not.toBe(before);
});

test('node_modules is not part of the hash', () => {
  mkdirSync(join(folder, 'node_modules'));
  writeFileSync(join(folder, 'node_modules/left'), '');
  expect(filesIn(folder)).toEqual([join(folder, 'b/two'), join(folder, 'one')]);
});
