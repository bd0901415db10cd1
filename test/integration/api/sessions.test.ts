// Sessions at the API: with which fields one can be opened, and which can be changed.

import { beforeAll, describe, expect, test } from 'vitest';
import { refusedFields, takenFields } from './field-bodies.ts';
import { many, one, refusedServers, takenServers } from './server-bodies.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, tenant, call, open, sessionsOf } = useSessions();

const configFields = ['mcpServers', 'mcpMode', 'appendSystemPrompt', 'disallowedTools', 'env'];
const isOfSessions = ([, body]: readonly [string, object, ...unknown[]]) =>
  Object.keys(body).every((name) => configFields.includes(name));
const refused = [...refusedServers, ...refusedFields].filter(isOfSessions);
const taken = [...takenServers, ...takenFields].filter(isOfSessions);

const openWith = (body: unknown) => call(sessionsOf(), { body });
const configOf = (sessionId: string) => `${sessionsOf()}/${sessionId}/config`;
const change = (sessionId: string, body: unknown) =>
  call(configOf(sessionId), { method: 'PATCH', body });

/** Digests of the sealed configurations of all sessions. */
async function sealedConfigs(): Promise<unknown> {
  const { rows } = await fixture.database.pool.query(
    `select run_id, md5(config_sealed) as digest, config_version from sessions order by run_id`,
  );
  return rows;
}

test('an opening with an idempotency key finds its session again, as does every retry at once', async () => {
  const headers = { 'idempotency-key': 'order-4711' };
  const openKeyed = (path = sessionsOf(), body: object = {}) => call(path, { body, headers });
  const answers = await Promise.all(Array.from({ length: 10 }, () => openKeyed()));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(new Set(answers.map(({ json }) => json.data.runId)).size).toBe(1);
  expect(answers.filter(({ headers: sent }) => sent.get('session-resumed') === null)).toHaveLength(
    1,
  );
  const [{ sessionId, runId }] = answers.map(({ json }) => json.data);
  expect((await openKeyed()).json.data).toMatchObject({ sessionId, runId });

  const others = [
    await call(sessionsOf(), { body: {}, headers: { 'idempotency-key': 'order-4712' } }),
    await openKeyed(sessionsOf(), { sessionId: 'of-the-client' }),
    await call(sessionsOf(), { body: {} }),
  ];
  const ids = [runId, ...others.map(({ json }) => json.data.runId)];
  expect(new Set(ids).size).toBe(4);
  expect(others[1]?.json.data.sessionId).toBe('of-the-client');
  const wrong = await call(sessionsOf(), { body: {}, headers: { 'idempotency-key': 'ä' } });
  expect([wrong.status, wrong.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
});

/** An existing session. */
let known: string;
beforeAll(async () => {
  known = (await open()).sessionId;
});

describe('a configuration', () => {
  test.each(refused)('with %s is rejected on opening and as a change', async (...given) => {
    const [, body, message] = given;
    const before = await sealedConfigs();
    for (const answer of [await openWith(body), await change(known, body)]) {
      expect([answer.status, answer.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(answer.json.error.message).toContain(message);
    }
    expect(await sealedConfigs()).toEqual(before);
  });

  test.each(taken)('with %s is accepted both ways, with the same result', async (_what, body) => {
    const opened = await openWith(body);
    expect(opened.status, opened.text).toBe(201);
    const { sessionId } = await open();
    const changed = await change(sessionId, body);
    expect(changed.status, changed.text).toBe(200);
    const unchanged = await change(opened.json.data.sessionId, {});
    expect({ ...changed.json.data, sessionId: '' }).toEqual({
      ...unchanged.json.data,
      sessionId: '',
    });
  });

  test('is limited as a whole, over any number of changes', async () => {
    const { sessionId } = await open();
    const put = (body: object) => change(sessionId, body);
    const { env } = { env: many(100, 'V', '') };
    expect((await put({ env })).status).toBe(200);
    const over = await put({ env: { ONE_MORE: '' } });
    expect(over.json.error.message).toBe('body.env: must be at most 100 variables');
    const instead = await put({ env: { V0: null, ONE_MORE: '' } });
    expect([instead.status, instead.json.data.env]).toEqual([
      200,
      expect.arrayContaining(['ONE_MORE']),
    ]);
    expect(instead.json.data.env).toHaveLength(100);
    const servers = many(20, 's', one({}).mcpServers.docs);
    expect((await put({ mcpServers: servers })).status).toBe(200);
    expect((await put(one({}))).status).toBe(400);
    expect((await put({ mcpServers: { s0: null, ...one({}).mcpServers } })).status).toBe(200);
  });

  test('can change only the headers of a known server, but not of an unknown one', async () => {
    const { sessionId } = await open();
    await change(sessionId, one({ headers: { a: 'first' } }));
    const headers = { b: 'second' };
    const rotated = await change(sessionId, { mcpServers: { docs: { headers } } });
    expect([rotated.status, rotated.json.data.mcpServers]).toEqual([200, ['docs']]);
    const unknown = await change(sessionId, { mcpServers: { other: { headers } } });
    expect([unknown.status, unknown.json.error.message]).toEqual([
      400,
      expect.stringContaining('body.mcpServers.other.'),
    ]);
  });

  test('changes only known fields, and only of an existing session', async () => {
    const { sessionId, runId } = await open();
    const before = await sealedConfigs();
    for (const field of ['sessionId', 'name', 'labels', 'partialMessages', 'prompt']) {
      const { status, json } = await change(sessionId, { [field]: 'x' });
      expect([status, json.error.message]).toEqual([400, `body.${field}: unknown field`]);
    }
    expect((await change(sessionId, [])).status).toBe(400);
    expect(await sealedConfigs()).toEqual(before);
    for (const id of ['nobody', 'x'.repeat(128), 'x'.repeat(129), 'a%20b']) {
      const { status, json } = await change(id, {});
      expect([id, status, json.error.code]).toEqual([id, 404, 'NOT_FOUND']);
    }
    await fixture.stores.runs.recordCause({ runId, cause: 'stopped_by_api', detail: null });
    for (const { status, json } of [await change(sessionId, {}), await openWith({ sessionId })])
      expect([status, json.error.message]).toEqual([404, expect.stringContaining('has ended')]);
  });

  test('is not opened again after its end or the deletion of its run: its id stays in use', async () => {
    const { sessionId, runId } = await open();
    const refusal = [
      404,
      expect.stringMatching(/^The session with this ID has ended.*Choose another/),
    ];
    const again = async () => {
      const { status, json } = await openWith({ sessionId });
      return [status, json.error.message];
    };
    await fixture.stores.runs.endRun({
      runId,
      cause: 'stopped_by_api',
      detail: null,
      exitCode: null,
    });
    expect(await again()).toEqual(refusal);
    expect((await call(`/api/v1/runs/${runId}`, { method: 'DELETE' })).status).toBe(200);
    expect(await again()).toEqual(refusal);
  });
});

describe('a session', () => {
  const labels = (count: number) => many(count, 'k', 'v');

  test.each([
    ['an id of one character', { sessionId: '-' }],
    ['an id of 128', { sessionId: `aZ09._:-${'x'.repeat(120)}` }],
    ['20 labels', { labels: labels(20) }],
    ['a name of 200', { name: '😀'.repeat(200) }],
    ['token deltas', { partialMessages: true }],
    ['a callback', { callbackUrl: 'https://example.com:8443/x?y=z' }],
    ['a callback of 2048', { callbackUrl: `https://e.com/${'x'.repeat(2034)}` }],
  ])('with %s is opened', async (_what, body) => {
    const answer = await openWith(body);
    expect(answer.status, answer.text).toBe(201);
    const { sessionId, runId, streamUrl } = answer.json.data;
    if ('sessionId' in body) expect(sessionId).toBe(body.sessionId);
    expect(answer.json).toEqual({ data: { sessionId, runId, streamUrl } });
    const read = await call(`${sessionsOf()}/${sessionId}`);
    const { name = null, labels: given = {} } = body as { name?: string; labels?: object };
    const webhook = { state: 'callbackUrl' in body ? 'waiting' : 'none' };
    expect(read.json.data).toMatchObject({ runId, sessionId, name, labels: given, webhook });
  });

  test.each([
    ['an id of nothing', { sessionId: '' }, 'body.sessionId'],
    ['an id of 129', { sessionId: 'x'.repeat(129) }, 'body.sessionId'],
    ['a space in its id', { sessionId: 'a b' }, 'body.sessionId'],
    ['a slash in its id', { sessionId: 'a/b' }, 'body.sessionId'],
    ['an id beyond ASCII', { sessionId: 'é' }, 'body.sessionId'],
    ['a line after its id', { sessionId: 'a\n' }, 'body.sessionId'],
    ['an id that is no text', { sessionId: 7 }, 'body.sessionId'],
    ['21 labels', { labels: labels(21) }, 'body.labels'],
    ['a name of 201', { name: '😀'.repeat(201) }, 'body.name'],
    ['deltas in words', { partialMessages: 'yes' }, 'body.partialMessages'],
    ['what a run takes', { prompt: 'Go' }, 'body.prompt: unknown field'],
    ['files', { files: [] }, 'body.files: unknown field'],
    ['a callback over http', { callbackUrl: 'http://e.com/' }, 'body.callbackUrl: must be an h'],
    ['a private callback', { callbackUrl: 'https://10.0.0.1/' }, 'must have a public address'],
    [
      'a callback of 2049',
      { callbackUrl: `https://e.com/${'x'.repeat(2035)}` },
      'body.callbackUrl',
    ],
    ['two unknown fields', { a: 1, b: 2 }, 'body.a: unknown field; body.b: unknown field'],
  ])('with %s is not opened', async (_what, body, says) => {
    const before = await sealedConfigs();
    const { status, json } = await openWith(body);
    expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(json.error.message).toContain(says);
    expect(await sealedConfigs()).toEqual(before);
  });

  test('has an id that is unique within its flow', async () => {
    const { flowId } = await fixture.stores.flows.create({
      projectId: tenant.projectId,
      name: 'Another',
    });
    const body = { sessionId: 'the-same' };
    const here = await openWith(body);
    const inOtherFlow = await call(sessionsOf({ flowId }), { body });
    expect(inOtherFlow.status).toBe(201);
    expect(inOtherFlow.json.data.runId).not.toBe(here.json.data.runId);
    const before = await sealedConfigs();
    const later = { name: 'Later', env: { A: 'x' }, labels: { a: 'b' } };
    const again = await openWith({ ...body, ...later, callbackUrl: 'https://e.com/' });
    expect(again.json).toEqual(here.json);
    expect([here, inOtherFlow, again].map(({ headers }) => headers.get('session-resumed'))).toEqual(
      [...[null, null, 'true']],
    );
    expect(await sealedConfigs()).toEqual(before);
    const kept = await call(`${sessionsOf()}/the-same`);
    expect(kept.json.data).toMatchObject({ name: null, labels: {}, webhook: { state: 'none' } });
    expect((await change('the-same', {})).json.data.env).toEqual([]);
    const chat = (of: string) =>
      call(`/api/v1/flows/${of}/chat`, { body: { ...body, message: 'x' } });
    expect((await chat(tenant.flowId)).json.data.runId).toBe(here.json.data.runId);
    expect((await chat(flowId)).json.data.runId).toBe(inOtherFlow.json.data.runId);
    await call(`${sessionsOf({ flowId })}/the-same`, { method: 'DELETE' });
    expect((await call(`${sessionsOf()}/the-same`)).json.data.error).toBeUndefined();
  });
});
