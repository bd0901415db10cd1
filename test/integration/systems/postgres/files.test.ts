import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { FileEntry } from '../../../../core/files/file-entry.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../../../../systems/postgres/files/file-store.ts';
import { snapshotOf } from '../../../support/snapshot-of.ts';
import { setupScenario } from './setup-scenario.ts';

const content = Buffer.from('hello');
const sha256 = createHash('sha256').update(content).digest('hex');

const { database, scenario } = setupScenario();
let runId: string;
beforeAll(async () => {
  async function* chunks() {
    yield content;
  }
  await createBlobStore(database.pool).put(chunks(), { sha256, size: content.length });
});
beforeEach(async () => {
  ({ runId } = await scenario.run());
});

const of = (generation = 1) => ({ runId, generation });
const files = () => createFileStore(database.pool);
const modifiedAt = new Date('2027-01-02T03:04:05.678Z');
const entry = (path: string, given: Partial<FileEntry> = {}): FileEntry => ({
  ...{ path, size: content.length, sha256, mode: 0o644, scope: 'run', modifiedAt },
  ...given,
});

test('returns a snapshot unchanged, ordered by path byte by byte', async () => {
  const entries = ['B', 'a', 'a/b', 'a.b', 'ü', 'it\'s {odd}, "quoted"\\', 'a\nb'].map((path) =>
    entry(path),
  );
  await files().replaceSnapshot(of(), snapshotOf(entries));
  const stored = await files().list(runId, { limit: 100 });
  const inOrder = [...entries].sort((x, y) =>
    Buffer.compare(Buffer.from(x.path), Buffer.from(y.path)),
  );
  expect(stored).toEqual(inOrder);
});

test('a later snapshot replaces the earlier one completely', async () => {
  await files().replaceSnapshot(of(), snapshotOf([entry('a'), entry('b')]));
  const later = [entry('b', { mode: 0o755 }), entry('c', { scope: 'flow' })];
  await files().replaceSnapshot(of(), snapshotOf(later));
  expect((await files().list(runId, { limit: 9 })).map((file) => file.path)).toEqual(['b', 'c']);
  expect(await files().find(runId, 'a')).toBeNull();
  expect(await files().find(runId, 'b')).toEqual(entry('b', { mode: 0o755 }));
  await files().replaceSnapshot(of(), snapshotOf([]));
  expect(await files().list(runId, { limit: 9 })).toEqual([]);
});

test('a list is filtered by scope and prefix, and is paged', async () => {
  const paths = ['a/1', 'a/2', 'a_3', 'b', 'a%4'];
  const scope = (path: string) => (path === 'a/2' ? 'flow' : 'run');
  await files().replaceSnapshot(
    of(),
    snapshotOf(paths.map((path) => entry(path, { scope: scope(path) }))),
  );
  const list = async (query: Parameters<ReturnType<typeof files>['list']>[1]) =>
    (await files().list(runId, query)).map((file) => file.path);
  expect(await list({ prefix: 'a/', limit: 9 })).toEqual(['a/1', 'a/2']);
  expect(await list({ prefix: 'a%', limit: 9 })).toEqual(['a%4']);
  expect(await list({ prefix: 'a_', limit: 9 })).toEqual(['a_3']);
  expect(await list({ scope: 'flow', limit: 9 })).toEqual(['a/2']);
  expect(await list({ limit: 2 })).toEqual(['a%4', 'a/1']);
  expect(await list({ limit: 9, after: 'a/1' })).toEqual(['a/2', 'a_3', 'b']);
});

test('rejects a file without stored content and keeps the earlier snapshot', async () => {
  await files().replaceSnapshot(of(), snapshotOf([entry('a')]));
  const missing = entry('b', { sha256: '00'.repeat(32) });
  await expect(files().replaceSnapshot(of(), snapshotOf([missing]))).rejects.toThrow('foreign key');
  expect((await files().list(runId, { limit: 9 })).map((file) => file.path)).toEqual(['a']);
});

test('twenty concurrent snapshots leave one complete one', async () => {
  const snapshots = Array.from({ length: 20 }, (_, n) => [
    entry(`${n}/a`),
    entry(`${n}/b`),
    entry('c'),
  ]);
  await Promise.all(snapshots.map((entries) => files().replaceSnapshot(of(), snapshotOf(entries))));
  expect(snapshots).toContainEqual(await files().list(runId, { limit: 99 }));
});

test('stores twenty thousand files in one snapshot', async () => {
  const entries = Array.from({ length: 20_000 }, (_, n) => entry(`dir/${n}`));
  await files().replaceSnapshot(of(), snapshotOf(entries));
  await files().replaceSnapshot(of(), snapshotOf(entries));
  expect(await files().list(runId, { limit: 50_000 })).toHaveLength(20_000);
});
