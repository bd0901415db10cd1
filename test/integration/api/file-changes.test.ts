// The changes of a run to its original files.

import { Readable } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import type { FileEntry } from '../../../core/files/file-entry.ts';
import { publicUrl } from '../../support/api-fixture.ts';
import { snapshotOf } from '../../support/snapshot-of.ts';
import { caller } from './call.ts';
import { useGivenFiles, utf8 } from './input-file-requests.ts';
import { digestOf } from './run-files.ts';

const { fixture, api, tenant, call, trigger } = useGivenFiles();
const given = [utf8('a.txt', 'one\ntwo\n'), utf8('b.txt', 'gone'), utf8('same', 'same')];
let runId: string;
let changes: string;

beforeEach(async () => {
  const { json } = await trigger(given);
  ({ runId } = json.data);
  changes = `/api/v1/runs/${runId}/changes`;
});

async function store(files: Record<string, string>, mode = 0o644): Promise<void> {
  const entries = Object.entries(files).map(async ([path, content]): Promise<FileEntry> => {
    const bytes = Buffer.from(content);
    const blob = { sha256: digestOf(bytes), size: bytes.length };
    await fixture.stores.blobs.put(Readable.from([bytes]), blob);
    return { ...blob, path, mode, scope: 'run', modifiedAt: new Date() };
  });
  const snapshot = snapshotOf(await Promise.all(entries));
  await fixture.stores.files.replaceSnapshot({ runId, generation: 1 }, snapshot);
}

const version = (content: string, mode = '0644') => ({
  ...{ size: content.length, sha256: digestOf(Buffer.from(content)), mode },
});

const edited = { 'a.txt': 'one\n2\n', 'new/ü "x"': 'new\n', same: 'same' };
const editedChanges = [
  {
    path: 'a.txt',
    status: 'modified',
    before: version('one\ntwo\n'),
    after: version('one\n2\n'),
  },
  { path: 'b.txt', status: 'deleted', before: version('gone'), after: null },
  { path: 'new/ü "x"', status: 'added', before: null, after: version('new\n') },
];
const editedPatch = `diff --git a/a.txt b/a.txt
index 814f4a422927b82f5f8a43f8fab6d3839e3983f2..0000 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
+2
diff --git a/b.txt b/b.txt
deleted file mode 100644
index 0000..0000
--- a/b.txt
+++ /dev/null
@@ -1,1 +0,0 @@
-gone
\\ No newline at end of file
diff --git "a/new/ü \\"x\\"" "b/new/ü \\"x\\""
new file mode 100644
index 0000..0000
--- /dev/null
+++ "b/new/ü \\"x\\""
@@ -0,0 +1,1 @@
+new
`;

const withoutIds = (patch: string) => patch.replaceAll(/^index .*$/gm, 'index');

test('lists added, modified and deleted files with their sizes, and nothing before a change', async () => {
  expect((await call(changes)).json).toEqual({ data: [] });
  await store(edited);
  expect((await call(changes)).json).toEqual({ data: editedChanges });
  const patch = await call(`${changes}?format=patch`);
  expect(withoutIds(patch.text)).toBe(withoutIds(editedPatch));
  expect(patch.text).toContain('index 814f4a422927b82f5f8a43f8fab6d3839e3983f2..');
  expect(Object.fromEntries(patch.headers)).toMatchObject({
    'content-type': 'text/x-diff; charset=utf-8',
    'content-disposition': `attachment; filename="${runId}.patch"`,
    'x-content-type-options': 'nosniff',
  });
});

test('compares with the original files, even after the flow has others', async () => {
  await store(edited);
  const patch = (await call(`${changes}?format=patch`)).text;
  await fixture.database.pool.query(
    `update runs set ended_at = now(), status = 'sleep', end_cause = 'completed' where id = $1`,
    [runId],
  );
  const later = [utf8('a.txt', 'three'), utf8('b.txt', 'again'), utf8('same', 'other')];
  await trigger(later);
  expect((await call(changes)).json).toEqual({ data: editedChanges });
  expect((await call(`${changes}?format=patch`)).text).toBe(patch);
});

test('compares with the files of the flow, and keeps the changed ones', async () => {
  const { json } = await trigger([]);
  ({ runId } = json.data);
  changes = `/api/v1/runs/${runId}/changes`;
  await store(edited);
  const listed = (await call(changes)).json;
  expect(listed).toEqual({ data: editedChanges });
  const later = [utf8('a.txt', 'three'), utf8('b.txt', 'again'), utf8('same', 'other')];
  for (const files of [later, [utf8('d', 'later')]]) {
    await fixture.database.pool.query(
      `update runs set ended_at = now(), status = 'sleep', end_cause = 'completed' where flow_id = $1`,
      [tenant.flowId],
    );
    // No version of the flow keeps them either.
    await fixture.database.pool.query(
      'update flows set files_kept_from = files_version where id = $1',
      [tenant.flowId],
    );
    await trigger(files);
  }
  const { rows } = await fixture.database.pool.query(
    'select path from flow_files where flow_id = $1 and valid_to is not null',
    [tenant.flowId],
  );
  expect(rows).toEqual([]);
  expect((await call(changes)).json).toEqual(listed);
  // The retry starts with the files that the flow has now.
  const retried = await call(`/api/v1/runs/${runId}/retry`, { body: {} });
  const files = await call(`/api/v1/runs/${retried.json.data.runId}/files`);
  const sizes = files.json.data.map(({ size }: { size: number }) => size);
  expect([retried.status, sizes]).toEqual([201, [5, 5, 5, 5]]);
});

test('takes a file that was sent to the run as original, and the executable bit as a change', async () => {
  await store(edited);
  const { flowId } = tenant;
  const content = Buffer.from(edited['a.txt']);
  const file = { path: 'a.txt', sha256: digestOf(content), size: content.length, mode: 0o644 };
  const rules = { files: [{ ...file, scope: 'run' as const }], classifiedBy: { sha256: null } };
  await fixture.stores.flowFiles.add({ runId, flowId }, rules);
  expect((await call(`${changes}?prefix=a`)).json).toEqual({ data: [] });
  await store({ ...edited, 'b.txt': 'gone' }, 0o700);
  expect((await call(`${changes}?prefix=b`)).json.data).toEqual([
    { path: 'b.txt', status: 'modified', before: version('gone'), after: version('gone', '0755') },
  ]);
  await store({ ...edited, 'b.txt': 'gone' }, 0o600);
  expect((await call(`${changes}?prefix=b`)).json).toEqual({ data: [] });
});

test('lists by page and prefix, and returns one whole patch', async () => {
  await store(edited);
  const seen: unknown[] = [];
  for (let next: string | undefined = `${changes}?limit=1`; next !== undefined; ) {
    const page = await call(next);
    expect(page.json.data).toHaveLength(1);
    seen.push(...page.json.data);
    next = /^<(.*)>; rel="next"$/
      .exec(page.headers.get('link') ?? '')?.[1]
      ?.slice(publicUrl.length);
  }
  expect(seen).toEqual(editedChanges);
  expect((await call(`${changes}?prefix=new/`)).json.data).toEqual(editedChanges.slice(2));
  const part = await call(`${changes}?format=patch&prefix=new/`);
  expect(part.text.startsWith('diff --git "a/new/')).toBe(true);
  for (const query of ['format=patch&limit=1', 'format=patch&cursor=YQ', 'format=x', 'scope=run']) {
    expect((await call(`${changes}?${query}`)).status, query).toBe(400);
  }
});

test('omits names that git would reject from the patch, but not from the list', async () => {
  await store({ 'a.txt': 'one\ntwo\n', 'b.txt': 'gone', same: 'same', '.git/HEAD': 'ref: x\n' });
  const { json } = await call(changes);
  expect(json.data).toMatchObject([{ path: '.git/HEAD', status: 'added' }]);
  expect(await call(`${changes}?format=patch`)).toMatchObject({ status: 200, text: '' });
});

test('is empty after retention, and rejects another project', async () => {
  await store(edited);
  const other = await fixture.tenant();
  expect((await caller(api, other.key)(changes)).status).toBe(403);
  await fixture.database.pool.query('update runs set files_purged_at = now() where id = $1', [
    runId,
  ]);
  await fixture.database.pool.query('delete from run_files where run_id = $1', [runId]);
  await fixture.database.pool.query('delete from input_files where run_id = $1', [runId]);
  expect((await call(changes)).json).toEqual({ data: [] });
  expect((await call(`${changes}?format=patch`)).text).toBe('');
});
