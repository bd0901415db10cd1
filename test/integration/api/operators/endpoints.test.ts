import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
let path: string;
beforeAll(async () => {
  operator = await signedIn(fixture, api, 'olga');
  path = `/api/projects/${tenant.projectId}/endpoints`;
});

const url = 'https://hooks.example/events';
const create = (body: unknown) => operator(path, { body });

async function endpoint(): Promise<string> {
  const made = await create({ url, eventTypes: ['run.finished'] });
  expect(made.status, made.text).toBe(201);
  return made.json.data.endpointId;
}

async function remove(endpointId: string): Promise<void> {
  const answer = await operator(`${path}/${endpointId}`, { method: 'DELETE' });
  expect([answer.status, answer.json.data]).toEqual([200, { endpointId, removed: true }]);
}

test('creates, lists, changes and removes an endpoint', async () => {
  const made = await create({ url, eventTypes: ['run.finished', 'run.finished'] });
  const record = made.json.data;
  const { projectId } = tenant;
  expect(record).toMatchObject({ projectId, url, eventTypes: ['run.finished'] });
  const one = `${path}/${record.endpointId}`;
  expect(made.headers.get('location')).toMatch(new RegExp(`${one}$`));
  expect((await operator(one)).json.data).toEqual(record);
  expect((await operator(path)).json.data).toContainEqual(record);
  const body = { eventTypes: ['session.ended', 'session.ended'] };
  const changed = await operator(one, { method: 'PATCH', body });
  expect(changed.json.data).toEqual({ ...record, eventTypes: ['session.ended'] });
  await remove(record.endpointId);
  for (const method of ['GET', 'DELETE', 'PATCH'])
    expect((await operator(one, { method })).status).toBe(404);
  expect((await operator(path)).json.data).toEqual([]);
});

test.each([
  [{ url: 'http://hooks.example/', eventTypes: ['run.finished'] }, 'body.url: must be an https'],
  [{ url: 'https://10.0.0.1/', eventTypes: ['run.finished'] }, 'body.url: must have a public'],
  [{ url: `https://e.com/${'x'.repeat(2_035)}`, eventTypes: ['run.finished'] }, 'body.url'],
  [{ url, eventTypes: [] }, 'body.eventTypes'],
  [{ url, eventTypes: ['run.lost'] }, 'body.eventTypes'],
  [{ url, eventTypes: ['endpoint.test'] }, 'body.eventTypes'],
  [{ url, eventTypes: ['run.finished'], secret: 'x' }, 'body.secret: unknown field'],
])('rejects %j', async (body, message) => {
  const { status, json } = await create(body);
  expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(json.error.message).toContain(message);
});

test('rejects the eleventh endpoint of a project', async () => {
  const max = limits.webhook.endpointsPerProject;
  const made: string[] = [];
  while (made.length < max) made.push(await endpoint());
  const { status, json } = await create({ url, eventTypes: ['run.finished'] });
  expect([status, json.error]).toMatchObject([400, { limit: max, current: max }]);
  for (const endpointId of made) await remove(endpointId);
});

test('shows the events of an endpoint with their bodies and attempts, page by page', async () => {
  const endpointId = await endpoint();
  const { projectId } = tenant;
  const sent: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const answer = await operator(`${path}/${endpointId}/test`, { method: 'POST' });
    expect([answer.status, answer.json.data.delivery]).toEqual([202, 0]);
    sent.unshift(answer.json.data.eventId);
  }
  const list = await operator(`${path}/${endpointId}/events?limit=2`);
  const idsOf = (data: { eventId: string }[]) => data.map(({ eventId }) => eventId);
  expect(idsOf(list.json.data)).toEqual(sent.slice(0, 2));
  const next = /\?[^>]+/.exec(list.headers.get('link') ?? '')?.[0] ?? '';
  const rest = await operator(`${path}/${endpointId}/events${next}`);
  expect(idsOf(rest.json.data)).toEqual(sent.slice(2));
  const read = await operator(`${path}/${endpointId}/events/${sent[0]}`);
  expect(read.json.data).toMatchObject({
    ...{ endpointId, projectId, runId: null, event: 'endpoint.test', state: 'pending' },
    ...{ attempts: 0, lastStatus: null, deliveryAttempts: [] },
  });
  expect(JSON.parse(read.json.data.body)).toMatchObject({ projectId, endpointId });
  await remove(endpointId);
});

test('delivers an event again once its delivery has ended', async () => {
  const endpointId = await endpoint();
  const { eventId } = (await operator(`${path}/${endpointId}/test`, { method: 'POST' })).json.data;
  const redeliver = () =>
    operator(`${path}/${endpointId}/events/${eventId}/redeliver`, { method: 'POST' });
  expect((await redeliver()).status).toBe(400);
  await fixture.stores.events.drop(eventId);
  const answer = await redeliver();
  expect([answer.status, answer.json.data]).toEqual([202, { eventId, delivery: 1 }]);
  expect((await redeliver()).status).toBe(400);
  await remove(endpointId);
});

test('an endpoint without a URL holds its events, and sends those after it gets one', async () => {
  const made = await create({ eventTypes: ['run.started'] });
  expect([made.status, made.json.data]).toMatchObject([201, { url: null }]);
  const { endpointId } = made.json.data;
  const sendTest = async () => {
    const { json } = await operator(`${path}/${endpointId}/test`, { method: 'POST' });
    return (await operator(`${path}/${endpointId}/events/${json.data.eventId}`)).json.data;
  };
  const held = await sendTest();
  expect(held).toMatchObject({ state: 'held', attempts: 0, body: expect.any(String) });
  const due = async () => (await fixture.stores.events.takeDue()).map(({ eventId }) => eventId);
  expect(await due()).not.toContain(held.eventId);
  const again = `${path}/${endpointId}/events/${held.eventId}/redeliver`;
  const { status, json } = await operator(again, { method: 'POST' });
  expect([status, json.error.message]).toEqual([400, expect.stringContaining('had no URL')]);
  await operator(`${path}/${endpointId}`, { method: 'PATCH', body: { url } });
  const sent = await sendTest();
  expect(sent.state).toBe('pending');
  expect(await due()).toContain(sent.eventId);
  await remove(endpointId);
});

test('endpoints and events of another project are 404, and no key can use them', async () => {
  const endpointId = await endpoint();
  const { eventId } = (await operator(`${path}/${endpointId}/test`, { method: 'POST' })).json.data;
  const other = `/api/projects/${(await fixture.tenant()).projectId}/endpoints`;
  const others = [`${other}/${endpointId}`, `${other}/${endpointId}/events/${eventId}`];
  for (const at of [...others, `${path}/${endpointId}/events/${randomUUID()}`])
    expect((await operator(at)).status).toBe(404);
  expect((await operator(`${other}/${endpointId}`, { method: 'DELETE' })).status).toBe(404);
  expect((await caller(api, tenant.key)(path)).status).toBe(401);
  await remove(endpointId);
});
