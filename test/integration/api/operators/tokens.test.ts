import { beforeAll, describe, expect, test } from 'vitest';
import { operatorTokenLimits } from '../../../../core/keys/operator-tokens.ts';
import { createOperatorStore } from '../../../../systems/postgres/accounts/operator-store.ts';
import { createOperatorTokenStore } from '../../../../systems/postgres/accounts/operator-token-store.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { setDatabaseClock } from '../../systems/postgres/clock.ts';
import { caller } from '../call.ts';
import { rawCall } from '../raw-call.ts';
import { useApi } from '../use-api.ts';
import { type OperatorClient, sameOrigin, signedIn } from './operator-client.ts';

const { fixture, api } = useApi();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

const path = '/api/operator-tokens';
const create = (body: object) => operator(path, { body });
const newToken = async (fields: object = {}) =>
  (await create({ name: 'ci', ...fields })).json.data as { token: string; tokenId: string };

test('a token is shown once, acts as its operator, and needs no origin', async () => {
  const created = await create({ name: 'deploy' });
  expect(created.status).toBe(201);
  const { token, ...record } = created.json.data;
  expect(token).toMatch(/^fro_[0-9A-Za-z]{43}$/);
  expect(record).toMatchObject({
    name: 'deploy',
    operator: 'olga',
    shownPrefix: token.slice(0, 12),
    projectIds: null,
  });
  const inMs = Date.parse(record.expiresAt) - Date.now();
  expect(Math.abs(inMs - operatorTokenLimits.defaultMs)).toBeLessThan(60_000);
  const { projectId } = await fixture.tenant();
  const key = await caller(api, token)(`/api/projects/${projectId}/keys`, { body: { name: 'k' } });
  expect([key.status, key.json.data.createdBy]).toEqual([201, 'olga']);
  expect(key.headers.get('cache-control')).toBe('no-store');
  const listed = await operator(`${path}?limit=200`);
  expect(listed.json.data).toContainEqual(record);
  for (const text of [listed.text, api.log()]) expect(text).not.toContain(token.slice(12));
  expect(api.log()).toContain(`"tokenId":"${record.tokenId}"`);
});

test('a token limited to projects lists only these, and reaches no others', async () => {
  const [first, other, last] = [
    await fixture.tenant(),
    await fixture.tenant(),
    await fixture.tenant(),
  ];
  const projectIds = [last.projectId, first.projectId];
  const { token } = await newToken({ projectIds });
  const call = caller(api, token);
  const listed: string[] = [];
  for (let url: string | undefined = '/api/projects?limit=1'; url !== undefined; ) {
    const { json, headers } = await call(url);
    listed.push(...json.data.map((each: { projectId: string }) => each.projectId));
    const next = /<https?:\/\/[^/>]+([^>]+)>; rel="next"/.exec(headers.get('link') ?? '');
    url = next?.[1];
  }
  expect(listed).toEqual([first.projectId, last.projectId]);
  const { flowId } = other;
  for (const [wrong, status] of [
    [`/api/projects/${other.projectId}`, 403],
    [`/api/projects/unknown`, 403],
    [`/api/projects/${other.projectId}/flows/${flowId}`, 403],
    [`/api/projects/${first.projectId}/flows/${flowId}`, 404],
  ] as const) {
    const answer = await call(wrong);
    expect([wrong, answer.status]).toEqual([wrong, status]);
    expect(answer.text).not.toContain('A flow');
  }
  const made = await call('/api/projects', { body: { projectId: 'made-by-token' } });
  expect([made.status, made.json.error.code]).toEqual([403, 'UNAUTHORIZED']);
  expect(await fixture.stores.projects.find('made-by-token')).toBeNull();
});

test('every process rejects a revoked token from the next call on', async () => {
  const other = await fixture.start();
  const { token, tokenId } = await newToken();
  for (const process of [api, other])
    expect((await caller(process, token)('/api/projects')).status).toBe(200);
  expect((await operator(`${path}/${tokenId}`, { method: 'DELETE' })).json.data).toEqual({
    tokenId,
    revoked: true,
  });
  for (const process of [api, other]) {
    const answer = await caller(process, token)('/api/projects');
    expect([answer.status, answer.json.error.code]).toEqual([401, 'UNAUTHORIZED']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  }
  expect((await operator(`${path}/${tokenId}`, { method: 'DELETE' })).status).toBe(404);
});

test('a token becomes invalid when its operator is removed', async () => {
  const leaving = await signedIn(fixture, api, 'leaving');
  const { token } = (await leaving(path, { body: { name: 'ci' } })).json.data;
  expect((await caller(api, token)('/api/projects')).status).toBe(200);
  expect(await fixture.stores.operators.remove('leaving')).not.toBeNull();
  expect((await caller(api, token)('/api/projects')).status).toBe(401);
});

test('a token cannot create tokens, also beside a cookie from elsewhere', async () => {
  const { token } = await newToken();
  const bearer = { authorization: `Bearer ${token}` };
  expect((await caller(api, token)(path, { body: { name: 'ci' } })).status).toBe(401);
  const elsewhere = { ...bearer, origin: 'https://elsewhere.example' };
  expect((await operator(path, { body: { name: 'ci' }, headers: elsewhere })).status).toBe(403);
});

test('neither of two different tokens is used', async () => {
  const [one, two] = [await newToken(), await newToken()];
  const status = async (...tokens: string[]) => {
    const lines = tokens.map((token) => `Authorization: Bearer ${token}`);
    const request = ['GET /api/projects HTTP/1.1', 'Host: a', 'Connection: close', ...lines];
    return (await rawCall(api, `${request.join('\r\n')}\r\n\r\n`)).slice(0, 12);
  };
  expect(await status(one.token, one.token)).toBe('HTTP/1.1 200');
  expect(await status(one.token, two.token)).toBe('HTTP/1.1 401');
});

describe('a new token', () => {
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const { maxMs, projectsMax } = operatorTokenLimits;
  const projects = (count: number) => Array.from({ length: count }, (_, n) => `p-${n}`);

  test.each([
    { name: 'n'.repeat(200) },
    { expiresAt: inMs(maxMs - 60_000) },
    { projectIds: projects(projectsMax) },
  ])('is accepted at a limit', async (fields) => {
    expect((await create({ name: 'ci', ...fields })).status).toBe(201);
  });

  test.each([
    [{ name: '' }, 'body.name'],
    [{ name: 'n'.repeat(201) }, 'body.name'],
    [{ expiresAt: inMs(-1_000) }, 'body.expiresAt: must be in the future'],
    [{ expiresAt: inMs(maxMs + 60_000) }, 'body.expiresAt: must be at most 365 days'],
    [{ projectIds: [] }, 'body.projectIds'],
    [{ projectIds: ['a/b'] }, 'body.projectIds'],
    [{ projectIds: projects(projectsMax + 1) }, 'body.projectIds'],
    [{ operator: 'another operator' }, 'body.operator: unknown field'],
  ])('is rejected beyond it, with the name of the field', async (fields, field) => {
    const answer = await create({ name: 'ci', ...fields });
    expect([answer.status, answer.json.error.message]).toEqual([
      400,
      expect.stringContaining(field),
    ]);
  });
});

test('tokens are listed page by page, each once', async () => {
  await newToken();
  await newToken();
  const all = (await fixture.stores.operatorTokens.list()).map(({ tokenId }) => tokenId);
  const listed: string[] = [];
  for (let url: string | undefined = `${path}?limit=2`; url !== undefined; ) {
    const { json, headers } = await operator(url, { headers: sameOrigin });
    listed.push(...json.data.map((each: { tokenId: string }) => each.tokenId));
    url = /<https?:\/\/[^/>]+([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  expect(listed).toEqual(all);
  expect(listed.length).toBeGreaterThan(2);
});

test('a token expires by the database’s clock, and the next token deletes it', async () => {
  const own = await createTestDatabase();
  await createOperatorStore(own.pool).invite('ana');
  const tokens = createOperatorTokenStore(own.pool);
  const expiresAt = new Date('2030-01-01T00:00:00.000Z');
  await setDatabaseClock(own.pool, '2029-12-31T23:59:59.999Z');
  const created = await tokens.create({ operator: 'ana', name: 'ci', expiresAt });
  const token = created?.token ?? '';
  const holder = await tokens.findHolder(token);
  expect(holder).toMatchObject({ name: 'ana', token: { projectIds: null } });
  for (const wrong of ['', token.slice(0, -1), `${token} `, token.toLowerCase()])
    expect(await tokens.findHolder(wrong)).toBeNull();
  await setDatabaseClock(own.pool, expiresAt.toISOString());
  expect(await tokens.findHolder(token)).toBeNull();
  expect(await tokens.list()).toEqual([]);
  const later = new Date('2030-02-01T00:00:00.000Z');
  expect(await tokens.create({ operator: 'unknown', name: 'ci', expiresAt: later })).toBeNull();
  await tokens.create({ operator: 'ana', name: 'ci', expiresAt: later });
  const { rows } = await own.pool.query('select 1 from operator_tokens');
  expect(rows).toHaveLength(1);
  await own.drop();
});
