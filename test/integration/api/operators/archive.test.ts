import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

async function newFlow() {
  const { projectId, key } = tenant;
  const { flowId } = await fixture.stores.flows.create({ projectId, name: 'Old' });
  const call = caller(api, key);
  const flows = `/api/projects/${projectId}/flows`;
  const flow = `${flows}/${flowId}`;
  const archive = () => operator(flow, { method: 'DELETE' });
  return { flowId, call, flows, flow, archive, path: `/api/v1/flows/${flowId}` };
}

const body = { prompt: 'Go' };

test('an archived flow is unknown to keys, and its runs stay readable', async () => {
  const { flowId, call, flow, flows, archive, path } = await newFlow();
  const { runId } = (await call(`${path}/runs`, { body })).json.data;
  const { sessionId } = (await call(`${path}/sessions`, { body: {} })).json.data;
  for (let count = 0; count < 2; count += 1) {
    const archived = await archive();
    expect([archived.status, archived.json.data]).toEqual([200, { flowId, archived: true }]);
  }
  for (const [url, sent] of [
    [`${path}/runs`, { body }],
    [`${path}/sessions`, { body: {} }],
    [`${path}/chat`, { body: { message: 'Hello', sessionId } }],
    [`${path}/files`, {}],
  ] as const) {
    const { status, json } = await call(url, sent);
    expect([url, status, json.error.code]).toEqual([url, 404, 'NOT_FOUND']);
  }
  const ids = (answer: { json: { data: { flowId: string }[] } }) =>
    answer.json.data.map((each) => each.flowId);
  expect(ids(await call('/api/v1/flows'))).not.toContain(flowId);
  expect(ids(await operator(`${flows}?limit=200`))).not.toContain(flowId);
  expect(ids(await operator(`${flows}?archived=true`))).toContain(flowId);
  for (const part of ['', '/logs', '/files'])
    expect((await call(`/api/v1/runs/${runId}${part}`)).status).toBe(200);
  expect((await call(`/api/v1/runs/${runId}`)).json.data.status).toBe('running');
  expect((await operator(`${flow}/runs`, { body })).status).toBe(404);
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  expect((await call(`/api/v1/runs/${runId}/retry`, { body: {} })).status).toBe(404);
  expect((await operator(flow)).json.data).toMatchObject({ archivedAt: expect.any(String) });
});

test('an archived flow is restored, and each change is recorded once', async () => {
  const { flowId, call, flow, archive, path } = await newFlow();
  await Promise.all(Array.from({ length: 10 }, archive));
  for (let count = 0; count < 2; count += 1) {
    const restored = await operator(`${flow}/restore`, { method: 'POST' });
    expect(restored.json.data).toMatchObject({ flowId, archivedAt: null, version: 1 });
  }
  expect((await call(`${path}/runs`, { body })).status).toBe(201);
  const entries = (await operator(`/api/audit?projectId=${tenant.projectId}`)).json.data;
  const actions = entries
    .filter(({ objectId }: { objectId: string }) => objectId === flowId)
    .map(({ action }: { action: string }) => action);
  expect(actions).toEqual(['flow_restored', 'flow_archived']);
});

test('concurrent triggers start no run after their flow was archived', async () => {
  const { call, archive, path } = await newFlow();
  const trigger = async () => (await call(`${path}/runs`, { body })).status;
  const before = Array.from({ length: 5 }, trigger);
  const archived = archive();
  const after = archived.then(() => Promise.all(Array.from({ length: 5 }, trigger)));
  for (const status of await Promise.all(before)) expect([201, 404]).toContain(status);
  expect(await after).toEqual([404, 404, 404, 404, 404]);
});

test('no session is opened and no message stored by requests whose bodies arrive later', async () => {
  const { flowId, call, archive, path } = await newFlow();
  const { sessionId } = (await call(`${path}/sessions`, { body: {} })).json.data;
  const opening = slowRequest(`${path}/sessions`, {});
  const resuming = slowRequest(`${path}/sessions`, { sessionId });
  const message = slowRequest(`${path}/chat`, { message: 'Hello', sessionId });
  const ofNewSession = slowRequest(`${path}/chat`, { message: 'Hello' });
  // Their headers arrive before this request ends, so they are authenticated.
  expect((await call(`${path}/files`)).status).toBe(200);
  await archive();
  const slow = [opening, resuming, message, ofNewSession];
  const rejected = { status: 404, code: 'NOT_FOUND' };
  expect(await Promise.all(slow.map(({ finish }) => finish()))).toEqual(slow.map(() => rejected));
  const count = 'select count(*)::integer as runs from runs where flow_id = $1';
  expect((await fixture.database.pool.query(count, [flowId])).rows).toEqual([{ runs: 1 }]);
});

/**
 * Sends the headers at once, then white space, so that the body does not stall, and the rest when
 * `finish` is called.
 */
function slowRequest(path: string, content: object) {
  const sent = Promise.withResolvers<boolean>();
  const [space, text] = [' ', JSON.stringify(content)].map((part) =>
    new TextEncoder().encode(part),
  );
  const request = {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
    duplex: 'half' as const,
    body: new ReadableStream({
      start: (controller) => controller.enqueue(space),
      async pull(controller) {
        const isLast = await Promise.race([sent.promise, sleep(1_000, false)]);
        controller.enqueue(isLast ? text : space);
        if (isLast) controller.close();
      },
    }),
  };
  const answer = fetch(`${api.url}${path}`, request);
  const finish = async () => {
    sent.resolve(true);
    const response = await answer;
    return { status: response.status, code: JSON.parse(await response.text()).error?.code };
  };
  return { finish };
}

test('a flow of another project is 404', async () => {
  const other = await fixture.tenant();
  const path = `/api/projects/${tenant.projectId}/flows/${other.flowId}`;
  expect((await operator(path, { method: 'DELETE' })).status).toBe(404);
  expect((await operator(`${path}/restore`, { method: 'POST' })).status).toBe(404);
  expect((await fixture.stores.flows.find(other.flowId))?.archivedAt).toBeNull();
});
