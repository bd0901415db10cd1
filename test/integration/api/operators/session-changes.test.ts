// Operators open sessions, send messages and answer questions by the handlers of keys. Each change
// has one entry in the audit log.

import { describe, expect, test } from 'vitest';
import type { CallOptions } from '../call.ts';
import { sessionWorker } from '../session-worker.ts';
import { useOperator } from './use-operator.ts';

const { fixture, tenant, olga, at, byKey, entriesOf, actionsOf, withoutLog } = useOperator();

const flowPath = (path: string) => `/flows/${tenant.flowId}${path}`;
const asOlga = (path: string, options?: CallOptions) => olga.byToken(at(path), options);
const tenAtOnce = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 10 }, work));

interface Opened {
  runId: string;
  sessionId: string;
}

async function newSession(): Promise<Opened> {
  return (await byKey(flowPath('/sessions'), { body: {} })).json.data;
}

const send = (body: object) => asOlga(flowPath('/chat'), { body });

test('an operator opens a session once, by cookie and by token', async () => {
  const sessionId = 'by-olga';
  const body = { sessionId, name: 'canary', labels: { a: 'canary' } };
  const answers = await tenAtOnce(() => asOlga(flowPath('/sessions'), { body }));
  const again = await olga.byCookie(at(flowPath('/sessions')), { body });
  expect([again.status, again.headers.get('session-resumed')]).toEqual([201, 'true']);
  const { runId, streamUrl } = again.json.data;
  expect(new Set(answers.map(({ json }) => json.data.runId))).toEqual(new Set([runId]));
  expect(streamUrl).toContain(at(`/runs/${runId}/stream`));
  expect(again.headers.get('location')).toBe(at(`/runs/${runId}`));
  const [entry, ...others] = await entriesOf(runId);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    ...{ action: 'session_opened', operator: 'olga', tokenId: olga.tokenId },
    ...{ projectId: tenant.projectId, source: 'api' },
  });
  expect(JSON.stringify(entry)).not.toContain('canary');
  const { json } = await byKey(`/runs/${runId}`);
  expect(json.data).toMatchObject({ triggerType: 'dashboard', name: 'canary', sessionId });
});

describe('a message', () => {
  test('has one entry, also if ten requests with its ID send it at once', async () => {
    const { runId, sessionId } = await newSession();
    const body = { message: 'canary', sessionId, clientMessageId: 'one' };
    const answers = await tenAtOnce(() => send(body));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(answers[0]?.json.data.streamUrl).toContain(at(`/runs/${runId}/stream`));
    const files = [{ path: 'a.txt', content: 'canary', encoding: 'utf8' }];
    const byCookie = { body: { message: 'Two', sessionId, files } };
    expect((await olga.byCookie(at(flowPath('/chat')), byCookie)).status).toBe(202);
    await byKey(flowPath('/chat'), { body: { message: 'Three', sessionId } });
    expect(await actionsOf(runId)).toEqual(['message_sent message', 'message_sent files message']);
    expect(JSON.stringify(await entriesOf(runId))).not.toContain('canary');
    const listed = await asOlga(flowPath(`/sessions/${sessionId}/messages`));
    expect(listed.json.data).toHaveLength(3);
  });

  test('without a session opens one, with an entry for each', async () => {
    const { status, json } = await send({ message: 'Hello' });
    expect(status).toBe(202);
    expect(await actionsOf(json.data.runId)).toEqual(['session_opened', 'message_sent message']);
  });

  test('can be waited for', async () => {
    const { runId, sessionId } = await newSession();
    const worker = sessionWorker(fixture, runId);
    const answer = send({ message: 'Hello', sessionId, stream: false });
    await expect.poll(async () => (await actionsOf(runId)).length).toBe(1);
    await worker.begin();
    await worker.end('Done.');
    expect(await answer).toMatchObject({ status: 200, json: { data: { text: 'Done.' } } });
  });

  test('is withdrawn with one entry, unless an agent may have received it', async () => {
    const { runId, sessionId } = await newSession();
    const ids = [];
    for (const message of ['One', 'Two'])
      ids.push((await byKey(flowPath('/chat'), { body: { message, sessionId } })).json.data);
    await sessionWorker(fixture, runId).begin();
    const [delivered, queued] = ids.map(({ messageId }) =>
      flowPath(`/sessions/${sessionId}/messages/${messageId}`),
    );
    const withdraw = () => asOlga(queued ?? '', { method: 'DELETE' });
    const answers = await tenAtOnce(withdraw);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await asOlga(delivered ?? '', { method: 'DELETE' })).status).toBe(409);
    expect(await actionsOf(runId)).toEqual(['message_withdrawn -message']);
  });
});

test('a changed configuration has an entry with the names of the fields', async () => {
  const { runId, sessionId } = await newSession();
  const change = (body: object) =>
    asOlga(flowPath(`/sessions/${sessionId}/config`), { method: 'PATCH', body });
  const changed = await change({ env: { TOKEN: 'canary' }, appendSystemPrompt: 'canary' });
  expect(changed.json.data, changed.text).toMatchObject({ env: ['TOKEN'], effective: 'now' });
  expect((await change({ env: { TOKEN: 'canary' } })).status).toBe(200);
  expect((await change({ appendSystemPrompt: null })).status).toBe(200);
  expect((await change({ env: { PATH: 'x' } })).status).toBe(400);
  expect(await actionsOf(runId)).toEqual([
    'session_config_changed appendSystemPrompt env',
    'session_config_changed -appendSystemPrompt',
  ]);
  expect(JSON.stringify(await entriesOf(runId))).not.toContain('canary');
});

test('an answer has one entry, and a repeated or a different one has none', async () => {
  const { runId } = await newSession();
  const input = JSON.stringify({ questions: [{ question: 'Which?', options: [] }] });
  const interaction = { interactionId: 'q1', toolName: 'AskUserQuestion', input };
  await fixture.stores.interactions.record(runId, [{ kind: 'asked', interaction }]);
  const answer = (text: string) =>
    asOlga(`/runs/${runId}/interactions/q1`, { body: { answers: { 'Which?': text } } });
  const answers = await tenAtOnce(() => answer('canary'));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await answer('Another.')).status).toBe(400);
  expect(await actionsOf(runId)).toEqual(['question_answered answers']);
  expect(JSON.stringify(await entriesOf(runId))).not.toContain('canary');
});

test('an archived flow gets no message and no session, and its sessions can be ended', async () => {
  const { projectId } = tenant;
  const { flowId } = await fixture.stores.flows.create({ projectId, name: 'Old' });
  const path = `/flows/${flowId}`;
  const opened = await asOlga(`${path}/sessions`, { body: { sessionId: 'one' } });
  const body = { message: 'Hello', sessionId: 'one' };
  const { messageId } = (await asOlga(`${path}/chat`, { body })).json.data;
  await fixture.stores.flows.archive(flowId, true);
  for (const [rest, refused] of [
    ['/chat', body],
    ['/chat', { message: 'Hello' }],
    ['/sessions', { sessionId: 'one' }],
    ['/sessions', {}],
  ] as const)
    expect((await asOlga(`${path}${rest}`, { body: refused })).status).toBe(404);
  for (const rest of [`/sessions/one/messages/${messageId}`, '/sessions/one'])
    expect((await asOlga(`${path}${rest}`, { method: 'DELETE' })).status).toBe(200);
  expect(await actionsOf(opened.json.data.runId)).toEqual([
    ...['session_opened', 'message_sent message', 'message_withdrawn -message', 'session_ended'],
  ]);
});

test('a flow of another project is missing, and a token for projects is refused there', async () => {
  const other = await fixture.tenant();
  const path = `/api/projects/${other.projectId}${flowPath('')}`;
  for (const [rest, body] of [
    ['/sessions', {}],
    ['/chat', { message: 'Hello' }],
  ] as const) {
    expect((await olga.byCookie(`${path}${rest}`, { body })).status).toBe(404);
    expect((await olga.byToken(`${path}${rest}`, { body })).status).toBe(403);
  }
});

test('a change that cannot be recorded is not made', async () => {
  const { runId, sessionId } = await newSession();
  const path = flowPath(`/sessions/${sessionId}`);
  const body = { message: 'Hello', sessionId };
  const { messageId } = (await byKey(flowPath('/chat'), { body })).json.data;
  const before = await asOlga(path);
  await withoutLog(async () => {
    for (const [method, rest, sent] of [
      ['POST', flowPath('/chat'), body],
      ['POST', flowPath('/sessions'), { sessionId: 'unrecorded' }],
      ['DELETE', `${path}/messages/${messageId}`, undefined],
      ['PATCH', `${path}/config`, { env: { A: 'a' } }],
      ['DELETE', path, undefined],
    ] as const)
      expect((await asOlga(rest, { method, body: sent })).status, rest).toBe(500);
  });
  expect((await asOlga(path)).json).toEqual(before.json);
  expect((await asOlga(flowPath('/sessions/unrecorded'))).status).toBe(404);
  const config = await fixture.stores.sessions.readConfig(runId, 1);
  expect(config?.config.env).toEqual({});
  expect((await byKey(`${path}/messages`)).json.data).toHaveLength(1);
});
