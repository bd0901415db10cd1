// A snapshot that equals the stored one changes no row of it.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { FileEntry } from '../../../../core/files/file-entry.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../../../../systems/postgres/files/file-store.ts';
import { createFlowFileStore } from '../../../../systems/postgres/files/flow-file-store.ts';
import { snapshotOf } from '../../../support/snapshot-of.ts';
import { setupScenario } from './setup-scenario.ts';

const content = Buffer.from('hello');
const { length: size } = content;
const sha256 = createHash('sha256').update(content).digest('hex');
const modifiedAt = new Date('2027-01-02T03:04:05.678Z');

const { database, scenario } = setupScenario();
let runId: string;
beforeAll(() => createBlobStore(database.pool).put(Readable.from([content]), { sha256, size }));
beforeEach(async () => {
  ({ runId } = await scenario.run());
});

const entry = (path: string, mode = 0o644): FileEntry => ({
  ...{ path, size, sha256, mode, scope: 'run', modifiedAt },
});
const more = {
  links: [{ path: 'link', target: 'a', modifiedAt }],
  folders: [{ path: 'folder', mode: 0o755, modifiedAt }],
};
const store = (...entries: FileEntry[]) =>
  createFileStore(database.pool).replaceSnapshot(
    { runId, generation: 1 },
    snapshotOf(entries, more),
  );

/** Of the transactions that wrote the rows. */
async function writers(): Promise<string[]> {
  const tables = ['run_files', 'run_links', 'run_folders'];
  const selects = tables.map((table) => `select xmin::text as x from ${table} where run_id = $1`);
  const { rows } = await database.pool.query<{ x: string }>(selects.join(' union all '), [runId]);
  return rows.map(({ x }) => x);
}

test('a snapshot that is stored again changes no row, and a changed one replaces them', async () => {
  expect(await store(entry('a'), entry('b'))).toBe(true);
  const before = await writers();
  expect(before).toHaveLength(4);
  expect(await store(entry('a'), entry('b'))).toBe(true);
  expect(await writers()).toEqual(before);
  expect(await store(entry('a'), entry('b', 0o600))).toBe(true);
  expect((await writers()).filter((writer) => before.includes(writer))).toEqual([]);
});

test('a file that was uploaded since may make a stored one a file of the flow', async () => {
  await store(entry('a'));
  const files = createFlowFileStore(database.pool);
  const file = { path: 'a', sha256, size, mode: 0o644, scope: 'flow' } as const;
  const { flowId } = scenario.flow;
  await files.add({ runId, flowId }, { files: [file], classifiedBy: { sha256: null } });
  await store(entry('a'));
  const [listed] = await createFileStore(database.pool).list(runId, { limit: 9 });
  expect(listed).toMatchObject({ path: 'a', scope: 'flow' });
});
