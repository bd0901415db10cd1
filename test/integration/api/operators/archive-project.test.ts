import { beforeAll, expect, test } from 'vitest';
import { caller } from '../call.ts';
import { useApi } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api } = useApi();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

const body = { prompt: 'Go' };

async function newProject() {
  const { projectId, flowId, key } = await fixture.tenant();
  const call = caller(api, key);
  const project = `/api/projects/${projectId}`;
  const archive = () => operator(project, { method: 'DELETE' });
  const restore = () => operator(`${project}/restore`, { method: 'POST' });
  const path = `/api/v1/flows/${flowId}`;
  return { projectId, flowId, call, project, archive, restore, path };
}

test('an archived project accepts no work, and its runs stay readable', async () => {
  const { projectId, flowId, call, project, archive, path } = await newProject();
  const keyed = { ...body, idempotencyKey: 'once' };
  const { runId } = (await call(`${path}/runs`, { body: keyed })).json.data;
  const { sessionId } = (await call(`${path}/sessions`, { body: {} })).json.data;
  for (let count = 0; count < 2; count += 1)
    expect((await archive()).json.data).toEqual({ projectId, archived: true });
  for (const [url, sent] of [
    [`${path}/runs`, body],
    [`${path}/sessions`, {}],
    [`${path}/sessions`, { sessionId }],
    [`${path}/chat`, { message: 'Hello', sessionId }],
    [`${path}/chat`, { message: 'Hello' }],
  ] as const) {
    const { status, json } = await call(url, { body: sent });
    expect([url, status, json.error.code]).toEqual([url, 403, 'PROJECT_ARCHIVED']);
  }
  const started = await operator(`${project}/flows/${flowId}/runs`, { body });
  expect([started.status, started.json.error.code]).toEqual([403, 'PROJECT_ARCHIVED']);
  const again = await call(`${path}/runs`, { body: keyed });
  expect([again.status, again.json.data.runId]).toEqual([200, runId]);
  for (const part of ['', '/logs', '/files'])
    expect((await call(`/api/v1/runs/${runId}${part}`)).status).toBe(200);
  expect((await operator(`${project}/runs/${runId}`)).json.data).toMatchObject({
    status: 'running',
  });
  expect((await call(`/api/v1/runs/${runId}/stop`, { body: {} })).status).toBeLessThan(300);
  expect((await operator(project)).json.data.archivedAt).toEqual(expect.any(String));
});

test('is listed apart, is restored, and each change is recorded once', async () => {
  const { projectId, call, archive, restore, path } = await newProject();
  const listed = async (query: string): Promise<string[]> => {
    const { data } = (await operator(`/api/projects${query}`)).json;
    return data.map((each: { projectId: string }) => each.projectId);
  };
  await Promise.all(Array.from({ length: 10 }, archive));
  expect(await listed('?archived=true&limit=200')).toContain(projectId);
  expect(await listed('?limit=200')).not.toContain(projectId);
  for (let count = 0; count < 2; count += 1)
    expect((await restore()).json.data).toMatchObject({ projectId, archivedAt: null });
  expect(await listed('?limit=200')).toContain(projectId);
  expect((await call(`${path}/runs`, { body })).status).toBe(201);
  const entries = (await operator(`/api/audit?projectId=${projectId}`)).json.data;
  const actions = entries.map(({ action }: { action: string }) => action);
  expect(actions.slice(0, 2)).toEqual(['project_restored', 'project_archived']);
  expect(actions.filter((action: string) => action === 'project_archived')).toHaveLength(1);
});

test('starts no run of concurrent triggers after it was archived', async () => {
  const { call, archive, path } = await newProject();
  const trigger = async () => (await call(`${path}/runs`, { body })).status;
  const before = Array.from({ length: 5 }, trigger);
  const after = archive().then(() => Promise.all(Array.from({ length: 5 }, trigger)));
  for (const status of await Promise.all(before)) expect([201, 403]).toContain(status);
  expect(await after).toEqual([403, 403, 403, 403, 403]);
});

test('an unknown project is 404', async () => {
  expect((await operator('/api/projects/unknown', { method: 'DELETE' })).status).toBe(404);
  expect((await operator('/api/projects/unknown/restore', { method: 'POST' })).status).toBe(404);
});
