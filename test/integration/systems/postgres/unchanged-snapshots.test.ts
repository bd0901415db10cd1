// A snapshot changes only the stored rows that differ from it.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { FileEntry } from '../../../../core/files/file-entry.ts';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../../../../systems/postgres/files/file-store.ts';
import { createFlowFileStore } from '../../../../systems/postgres/files/flow-file-store.ts';
import { measureSlowdown } from '../../../support/processor-wait.ts';
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

/** The ids of the transactions that wrote the rows. */
async function writers(): Promise<string[]> {
  const tables = ['run_files', 'run_links', 'run_folders'];
  const selects = tables.map((table) => `select xmin::text as x from ${table} where run_id = $1`);
  const { rows } = await database.pool.query<{ x: string }>(selects.join(' union all '), [runId]);
  return rows.map(({ x }) => x);
}

test('a snapshot that is stored again changes no row, and a changed one only the rows that differ', async () => {
  expect(await store(entry('a'), entry('b'))).toBe('listed');
  const before = await writers();
  expect(before).toHaveLength(4);
  expect(await store(entry('a'), entry('b'))).toBe('listed');
  expect(await writers()).toEqual(before);
  expect(await store(entry('a'), entry('b', 0o600))).toBe('listed');
  expect((await writers()).filter((writer) => !before.includes(writer))).toHaveLength(1);
});

test('of 20 000 files, a snapshot that differs in three writes only these rows', async () => {
  const all = Array.from({ length: 20_000 }, (_, n) => entry(`folder/${n}`));
  await store(...all);
  const before = new Set(await writers());
  const slowdown = measureSlowdown(process.pid);
  const startedAt = performance.now();
  await store(...all.slice(1, -1), entry('folder/19999', 0o600), entry('new'));
  const tookMs = performance.now() - startedAt;
  const { rows } = await database.pool.query<{ path: string; x: string }>(
    'select path, xmin::text as x from run_files where run_id = $1 order by path',
    [runId],
  );
  expect(rows).toHaveLength(20_000);
  const written = rows.filter(({ x }) => !before.has(x));
  expect(written.map(({ path }) => path)).toEqual(['folder/19999', 'new']);
  expect(rows.some(({ path }) => path === 'folder/0')).toBe(false);
  expect(tookMs).toBeLessThan(5_000 * slowdown());
}, 60_000);

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
