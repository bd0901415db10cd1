// Operators add files to runs and change the files of flows by the handlers of keys. Each change
// has one entry in the audit log.

import { beforeEach, expect, test } from 'vitest';
import type { CallOptions } from '../call.ts';
import { archive } from '../tar-builder.ts';
import { useOperator } from './use-operator.ts';

const { fixture, api, tenant, olga, at, byKey, entriesOf, actionsOf, withoutLog } = useOperator();

let flowPath: string;
let flowId: string;
let runId: string;
beforeEach(async () => {
  const { projectId } = tenant;
  ({ flowId } = await fixture.stores.flows.create({ projectId, name: 'A flow' }));
  flowPath = `/flows/${flowId}`;
  runId = (await byKey(`${flowPath}/sessions`, { body: {} })).json.data.runId;
});

const asOlga = (path: string, options?: CallOptions) => olga.byToken(at(path), options);
const file = (path: string) => ({ path, content: 'canary', encoding: 'utf8' });
const put = (...paths: string[]): CallOptions => ({
  method: 'PUT',
  body: { files: paths.map(file) },
});

/** With the cookie of the operator. */
async function upload(path: string): Promise<number> {
  const answer = await fetch(`${api.url}${at(path)}`, {
    method: 'PUT',
    headers: {
      ...{ cookie: olga.cookie, origin: 'https://runs.example.test' },
      'content-type': 'application/x-tar',
    },
    body: new Uint8Array(archive({ name: 'tar.txt', content: 'canary' })),
  });
  return answer.status;
}

test('files that are added to a run have an entry of the run, as JSON and as an archive', async () => {
  const body = { files: [file('a.txt')] };
  const added = await asOlga(`/runs/${runId}/files`, { body });
  expect(added.status, added.text).toBe(200);
  expect(await upload(`/runs/${runId}/files.tar`)).toBe(200);
  expect((await byKey(`/runs/${runId}/files`, { body })).status).toBe(200);
  expect(await actionsOf(runId)).toEqual(['run_files_added files', 'run_files_added files']);
  expect(await entriesOf(flowId)).toEqual([]);
  expect(JSON.stringify(await entriesOf(runId))).not.toContain('canary');
});

test('a change of the files of a flow has one entry, and none if the files stay', async () => {
  const set = `${flowPath}/files`;
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => asOlga(set, put('a.txt', 'b.txt'))),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await actionsOf(flowId)).toEqual(['flow_files_changed files']);
  const stale = { ...put('c.txt'), headers: { 'if-match': '"other"' } };
  expect((await asOlga(set, stale)).status).toBe(412);
  expect((await asOlga(`${set}/absent`, { method: 'DELETE' })).status).toBe(404);
  expect((await asOlga(`${set}/a.txt`, { method: 'DELETE' })).status).toBe(200);
  expect(await upload(`${set}.tar`)).toBe(200);
  for (const status of [200, 200])
    expect((await asOlga(set, { method: 'DELETE' })).status).toBe(status);
  expect(await actionsOf(flowId)).toEqual([
    'flow_files_changed files',
    'flow_files_changed -files files',
    'flow_files_changed -files files',
    'flow_files_changed -files',
  ]);
  expect(JSON.stringify(await entriesOf(flowId))).not.toContain('canary');
});

test('a flow or run of another project is missing', async () => {
  const other = await fixture.tenant();
  const path = (rest: string) => `/api/projects/${other.projectId}${rest}`;
  const body = { files: [file('a.txt')] };
  expect((await olga.byCookie(path(`/runs/${runId}/files`), { body })).status).toBe(404);
  expect((await olga.byCookie(path(`${flowPath}/files`), put('a.txt'))).status).toBe(404);
  expect((await olga.byToken(path(`${flowPath}/files`), put('a.txt'))).status).toBe(403);
});

test('a change that cannot be recorded is not made', async () => {
  await byKey(`${flowPath}/files`, put('a.txt'));
  const before = await byKey(`${flowPath}/files`);
  await withoutLog(async () => {
    const body = { files: [file('b.txt')] };
    expect((await asOlga(`/runs/${runId}/files`, { body })).status).toBe(500);
    expect((await asOlga(`${flowPath}/files`, put('b.txt'))).status).toBe(500);
    expect((await asOlga(`${flowPath}/files/a.txt`, { method: 'DELETE' })).status).toBe(500);
  });
  expect((await byKey(`${flowPath}/files`)).json).toEqual(before.json);
  expect((await byKey(`/runs/${runId}/files?scope=flow`)).json.data).toEqual([]);
});
