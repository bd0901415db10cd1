// The files of the versions of a flow: which are kept, and how they are compared and restored.

import { beforeAll, expect, test } from 'vitest';
import { flowVersionLimits } from '../../../../core/flows/flow-version.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

async function newFlow(fields: object = {}) {
  const flows = `/api/projects/${tenant.projectId}/flows`;
  const made = await operator(flows, { body: { name: 'A flow', prompt: 'Go', ...fields } });
  expect(made.status, made.text).toBe(201);
  const { flowId } = made.json.data;
  const flow = `${flows}/${flowId}`;
  const path = `/api/v1/flows/${flowId}`;
  const call = caller(api, tenant.key);
  const sql = (text: string, ...values: unknown[]) =>
    fixture.database.pool.query(text, [flowId, ...values]);
  return {
    ...{ flow, flowId, sql },
    change: (body: object) => operator(flow, { method: 'PATCH', body }),
    async put(contents: Record<string, string>): Promise<void> {
      const files = Object.entries(contents).map(([name, content]) => ({
        ...{ path: name, content, encoding: 'utf8' },
      }));
      const answer = await call(`${path}/files`, { method: 'PUT', body: { files } });
      expect(answer.status, answer.text).toBe(200);
    },
    read: async (name: string): Promise<string> => (await call(`${path}/files/${name}`)).text,
    paths: async (): Promise<string[]> =>
      (await call(`${path}/files`)).json.data.map((file: { path: string }) => file.path),
    trigger: async (): Promise<string> =>
      (await call(`${path}/runs`, { body: {} })).json.data.runId,
    restore: (version: number, body: object = {}) =>
      operator(`${flow}/versions/${version}/restore`, { body }),
    diff: async (from: number, to: number) =>
      (await operator(`${flow}/versions/${to}/diff?from=${from}`)).json.data,
    /** Of the latest ones, latest first. */
    kept: async (): Promise<boolean[]> =>
      (await operator(`${flow}/versions`)).json.data.map(
        ({ filesKept }: { filesKept: boolean }) => filesKept,
      ),
    superseded: async (): Promise<string[]> =>
      (
        await sql(
          `select path from flow_files where flow_id = $1 and valid_to is not null order by valid_to`,
        )
      ).rows.map((row) => row.path),
    entries: async () =>
      (await operator(`/api/audit?limit=200&projectId=${tenant.projectId}`)).json.data.filter(
        (entry: { objectId: string; action: string }) =>
          entry.objectId === flowId && entry.action === 'flow_changed',
      ),
  };
}

const sizesOf = async (runId: string) =>
  Object.fromEntries(
    (await fixture.stores.files.listSeed(runId)).map(({ path, size }) => [path, size]),
  );

test('a version is restored with its files: one version, one entry, and runs keep theirs', async () => {
  const made = await newFlow({ prompt: 'old', env: { A: '1' } });
  await made.put({ 'a.txt': 'old', 'b.txt': 'gone', same: '=' });
  await made.change({ prompt: 'new', env: { A: '2' } });
  await made.put({ 'a.txt': 'newer', 'c.txt': '', same: '=' });
  const runId = await made.trigger();
  const difference = await made.diff(4, 2);
  expect(difference).toMatchObject({
    fileChangeCount: 3,
    fileChanges: [
      { path: 'a.txt', status: 'modified', before: { size: 5 }, after: { size: 3 } },
      { path: 'b.txt', status: 'added', before: null, after: { size: 4 } },
      { path: 'c.txt', status: 'deleted', before: { size: 0 }, after: null },
    ],
  });
  const restored = await made.restore(2);
  expect([restored.status, restored.json.data]).toMatchObject([
    200,
    { version: 5, prompt: 'old', storage: { usedBytes: 8 } },
  ]);
  expect(await made.paths()).toEqual(['a.txt', 'b.txt', 'same']);
  expect([await made.read('a.txt'), await made.read('b.txt')]).toEqual(['old', 'gone']);
  expect((await fixture.stores.flows.readSecrets(made.flowId)).env).toEqual({ A: '2' });
  const version = (await operator(`${made.flow}/versions/5`)).json.data;
  expect(version).toMatchObject({
    ...{ changedBy: 'olga', changedFields: ['files', 'prompt'], filesKept: true },
    files: { count: 3, bytes: 8 },
  });
  expect(await made.diff(2, 5)).toMatchObject({ fileChanges: [], fileChangeCount: 0 });
  const [entry, ...earlier] = await made.entries();
  expect(earlier).toHaveLength(1);
  expect(entry).toMatchObject({
    fieldsBefore: ['files', 'prompt'],
    fieldsAfter: ['files', 'prompt'],
  });
  expect(await sizesOf(runId)).toEqual({ 'a.txt': 5, 'c.txt': 0, same: 1 });

  await made.restore(1);
  expect(await made.paths()).toEqual([]);
  expect((await made.entries())[0]).toMatchObject({ fieldsBefore: ['files'], fieldsAfter: [] });
  expect(await sizesOf(runId)).toEqual({ 'a.txt': 5, 'c.txt': 0, same: 1 });
});

test('keeps superseded files up to the limit of bytes, and lets the oldest go beyond it', async () => {
  const made = await newFlow();
  for (const content of ['one', 'two', 'three']) await made.put({ [content]: content });
  const resize = (bytes: number) =>
    made.sql(`update flow_files set size = $2 where flow_id = $1 and path = 'two'`, bytes);
  const { keptFileBytes } = flowVersionLimits;
  await resize(keptFileBytes - 'one'.length);
  await made.change({ name: 'At the limit' });
  expect(await made.superseded()).toEqual(['one', 'two']);
  expect(await made.kept()).toEqual([true, true, true, true, true]);

  await resize(keptFileBytes - 'one'.length + 1);
  await made.change({ name: 'One beyond' });
  expect(await made.superseded()).toEqual(['two']);
  // The second version has lost its file. The first one had none.
  expect(await made.kept()).toEqual([true, true, true, true, false, true]);
  expect(await made.diff(2, 4)).toMatchObject({
    ...{ fileChanges: null, fileChangeCount: null },
    fields: [{ field: 'files' }],
  });
  const refused = await made.restore(2);
  expect([refused.status, refused.json.error.code]).toEqual([409, 'FILES_NOT_KEPT']);
  expect(await made.kept()).toHaveLength(6);
  expect(await made.paths()).toEqual(['three']);
  const fieldsOnly = await made.restore(2, { files: false });
  expect([fieldsOnly.status, fieldsOnly.json.data.name]).toEqual([200, 'A flow']);
  expect(await made.paths()).toEqual(['three']);
  expect((await made.restore(3)).status).toBe(200);
  expect(await made.paths()).toEqual(['two']);
});

test('keeps superseded files up to the limit of their number', async () => {
  const made = await newFlow();
  await made.put({ a: '1' });
  await made.put({ a: '2' });
  const { keptFiles } = flowVersionLimits;
  const add = (prefix: string, count: number) =>
    made.sql(
      `insert into flow_files (flow_id, path, valid_from, valid_to, sha256, size, mode, modified_at)
       select flow_id, $2::text || n, 1, 2, sha256, 0, mode, modified_at
       from flow_files cross join generate_series(1, $3::integer) n
       where flow_id = $1 and path = 'a' and valid_to is null`,
      ...[prefix, count],
    );
  await add('many', keptFiles - 1);
  await made.change({ name: 'At the limit' });
  expect(await made.superseded()).toHaveLength(keptFiles);
  const { fileChanges, fileChangeCount } = await made.diff(2, 3);
  expect([fileChanges.length, fileChangeCount]).toEqual([
    flowVersionLimits.diffFilesMax,
    keptFiles,
  ]);
  await add('more', 1);
  await made.change({ name: 'One beyond' });
  expect(await made.superseded()).toEqual([]);
  expect(await made.kept()).toEqual([true, true, true, false, true]);
});

test('a run in progress keeps files that no version keeps, and they go after its end', async () => {
  const made = await newFlow();
  await made.put({ 'a.txt': 'one' });
  const runId = await made.trigger();
  await made.put({ 'a.txt': 'three' });
  await made.sql('update flows set files_kept_from = files_version where id = $1');
  await made.change({ name: 'Renamed' });
  const retention = createRetentionStore(fixture.database.pool);
  await retention.flowFiles();
  expect([await made.kept(), await made.superseded()]).toEqual([
    [true, true, false, true],
    ['a.txt'],
  ]);
  expect(await sizesOf(runId)).toEqual({ 'a.txt': 3 });
  expect((await made.restore(2)).status).toBe(409);
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  expect(await retention.flowFiles()).toBe(1);
  expect(await made.superseded()).toEqual([]);
});

test('of ten restores at a time, each makes one version with fields and files of one', async () => {
  const made = await newFlow({ prompt: '1' });
  await made.put({ a: '1' });
  await made.change({ prompt: '22' });
  await made.put({ a: '22' });
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => made.restore(n % 2 === 0 ? 2 : 4)),
  );
  for (const { status, text } of answers) expect(status, text).toBe(200);
  const versions = answers.map(({ json }) => json.data.version).sort((one, two) => one - two);
  expect(versions).toEqual(Array.from({ length: 10 }, (_, n) => n + 5));
  for (const version of versions) {
    const { definition, files } = (await operator(`${made.flow}/versions/${version}`)).json.data;
    expect(files).toMatchObject({ count: 1, bytes: definition.prompt.length });
  }
  expect(await made.entries()).toHaveLength(11);
  const { prompt } = (await operator(made.flow)).json.data;
  expect(await made.read('a')).toBe(prompt);
});
