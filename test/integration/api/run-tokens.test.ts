import { describe, expect, test } from 'vitest';
import { runTokenLimits } from '../../../core/keys/run-tokens.ts';
import { createKeyStore } from '../../../systems/postgres/accounts/key-store.ts';
import { createRunTokenStore } from '../../../systems/postgres/accounts/run-token-store.ts';
import { createTestDatabase, testSealer } from '../../support/database.ts';
import { createScenario } from '../../support/database-records.ts';
import { openStream } from '../../support/sse-client.ts';
import { setDatabaseClock } from '../systems/postgres/clock.ts';
import { caller } from './call.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, tenant, call, sessionsOf, open, messages } = useSessions();

const create = (runId: string, body: object = {}, by = tenant.key) =>
  caller(api, by)(`/api/v1/runs/${runId}/token`, { body });
const tokenFor = async (runId: string, body?: object): Promise<string> =>
  (await create(runId, body)).json.data.token;

test('a token is shown once, and is valid for an hour by default', async () => {
  const { runId } = await open();
  const created = await create(runId);
  expect(created.status).toBe(201);
  const { token, expiresAt } = created.json.data;
  expect(created.json.data).toEqual({
    token: expect.stringMatching(/^frt_[0-9A-Za-z]{43}$/),
    runId,
    expiresAt: expect.stringMatching(/Z$/),
  });
  const inMs = Date.parse(expiresAt) - Date.now();
  expect(Math.abs(inMs - 3_600_000)).toBeLessThan(60_000);
  const run = await caller(api, token)(`/api/v1/runs/${runId.toUpperCase()}`);
  expect([run.status, run.json.data.runId]).toEqual([200, runId]);
  expect(api.log()).not.toContain(token.slice(4));
});

test.each([1, runTokenLimits.maxSeconds])('accepts a validity of %i s', async (seconds) => {
  const { runId } = await open();
  expect((await create(runId, { expiresInSeconds: seconds })).status).toBe(201);
});

test.each([0, runTokenLimits.maxSeconds + 1, 1.5, '60', null])(
  'rejects a validity of %j s',
  async (seconds) => {
    const { runId } = await open();
    const answer = await create(runId, { expiresInSeconds: seconds });
    expect([answer.status, answer.json.error.message]).toEqual([
      400,
      expect.stringContaining('body.expiresInSeconds'),
    ]);
  },
);

describe('a session’s token', () => {
  const chatBy = (token: string, body: object) =>
    caller(api, token)(`/api/v1/flows/${tenant.flowId}/chat`, { body });

  test('sends messages to its session, and to no other', async () => {
    const [own, other] = [await open(), await open()];
    const token = await tokenFor(own.runId);
    const sent = await chatBy(token, { message: 'Hi', sessionId: own.sessionId });
    expect([sent.status, sent.json.data.runId]).toEqual([202, own.runId]);
    const refused = await chatBy(token, { message: 'Hi', sessionId: other.sessionId });
    expect([refused.status, refused.json.error.code]).toEqual([403, 'UNAUTHORIZED']);
    expect([await messages(own.runId), await messages(other.runId)]).toEqual([1, 0]);
  });

  test('opens no session', async () => {
    const { runId } = await open();
    const token = await tokenFor(runId);
    const listed = async () => (await call(`${sessionsOf()}?limit=200`)).json.data.length;
    const before = await listed();
    for (const body of [{ message: 'Hi' }, { message: 'Hi', clientMessageId: 'first' }])
      expect((await chatBy(token, body)).status).toBe(403);
    expect((await caller(api, token)(sessionsOf(), { body: {} })).status).toBe(403);
    expect(await listed()).toBe(before);
  });

  test('cannot change a file of the flow', async () => {
    const { runId, sessionId } = await open();
    const files = [{ path: 'a.txt', content: 'a', encoding: 'utf8' }];
    const answer = await chatBy(await tokenFor(runId), { message: 'Hi', sessionId, files });
    expect([answer.status, answer.json.error.code]).toEqual([403, 'UNAUTHORIZED']);
  });

  test('creates no further token', async () => {
    const { runId } = await open();
    expect((await create(runId, {}, await tokenFor(runId))).status).toBe(403);
  });
});

test('a token of a plain run reads it, and does not end it', async () => {
  const path = `/api/v1/flows/${tenant.flowId}/runs`;
  const { runId } = (await call(path, { body: { prompt: 'Go' } })).json.data;
  const byToken = caller(api, await tokenFor(runId));
  expect((await byToken(`/api/v1/runs/${runId}/logs`)).status).toBe(200);
  const interrupted = await byToken(`/api/v1/runs/${runId}/interrupt`, { body: {} });
  expect(interrupted.status).toBe(403);
  expect(fixture.asked.stopped).toEqual([]);
});

test('requests with a token count against the rate limit of its key, also if they are rejected', async () => {
  const own = await fixture.tenant({ key: { rateLimitRpm: 4 } });
  const { runId } = await open(own); // the first request
  const { token } = (await create(runId, {}, own.key)).json.data;
  const byToken = caller(api, token);
  const read = await byToken(`/api/v1/runs/${runId}`);
  expect([read.status, read.headers.get('x-ratelimit-limit')]).toEqual([200, '4']);
  expect((await byToken('/api/v1/flows')).status).toBe(403);
  for (const key of [token, own.key]) {
    const answer = await caller(api, key)(`/api/v1/runs/${runId}`);
    expect([answer.status, answer.json.error.code]).toEqual([429, 'RATE_LIMITED']);
  }
});

test('a stream with a token in the query ends when the token expires', async () => {
  const { runId } = await open();
  const token = await tokenFor(runId, { expiresInSeconds: 5 });
  const address = `${api.url}/api/v1/runs/${runId}/stream`;
  const [short, long] = [
    await openStream(`${address}?api_key=${token}`, { key: null }),
    await openStream(`${address}?api_key=${await tokenFor(runId)}`, { key: null }),
  ];
  expect([short.status, long.status]).toEqual([200, 200]);
  await short.closed;
  expect(short.names()).not.toContain('finished');
  const again = await caller(api, token)(`/api/v1/runs/${runId}`);
  expect([again.status, again.json.error.code]).toEqual([401, 'UNAUTHORIZED']);
  expect(long.isClosed()).toBe(false);
  long.leave();
});

test('a token expires by the database’s clock, and later tokens delete it', async () => {
  const own = await createTestDatabase();
  const scenario = await createScenario(own.pool, testSealer);
  const { runId } = await scenario.run();
  const named = { projectId: scenario.projectId, name: 'ci', createdBy: 'ana' };
  const { record } = await createKeyStore(own.pool).create(named);
  const tokens = createRunTokenStore(own.pool);
  const at = (ms: number) =>
    setDatabaseClock(own.pool, new Date(Date.parse('2030-01-01T00:00:00Z') + ms).toISOString());
  const input = { keyId: record.keyId, runId, validMs: 1_000 };
  await at(0);
  const { token } = await tokens.create(input);
  await at(999);
  const holder = await tokens.findHolder(token, scenario.flow.flowId);
  expect(holder).toMatchObject({
    key: { keyId: record.keyId },
    flow: { flowId: scenario.flow.flowId },
    runToken: { runId, expiresInMs: 1 },
  });
  expect(await tokens.findHolder(token, null)).toMatchObject({ flow: null });
  expect(await tokens.findHolder(token.toLowerCase(), null)).toBeNull();
  await at(1_000);
  expect(await tokens.findHolder(token, null)).toBeNull();
  // Several at once, because each skips the rows that another one deletes.
  await Promise.all(Array.from({ length: 10 }, () => tokens.create(input)));
  const { rows } = await own.pool.query('select 1 from run_tokens');
  expect(rows).toHaveLength(10);
  await own.drop();
});
