// Every route of the application, called by every kind of caller. New routes are included
// automatically; a route that needs more than the ids below makes the test fail.

import { beforeAll, describe, expect, test } from 'vitest';
import type { RouteEntry } from '../../../api/http/route-table.ts';
import { publicUrl } from '../../support/api-fixture.ts';
import { type Answer, caller } from './call.ts';
import { cookieOf } from './operators/operator-client.ts';
import { addressOf, callRoute, endsLast } from './route-calls.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();
let runId: string;
const sessionId = 'session-1';

beforeAll(async () => {
  const path = `/api/v1/flows/${tenant.flowId}/runs`;
  await caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/sessions`, { body: { sessionId } });
  runId = (await caller(api, tenant.key)(path, { body: { prompt: 'Go' } })).json.data.runId;
});

const routes = () => api.app.routeTable;
const keyed = () => routes().filter(({ config }) => config.callers?.includes('key'));
const ofOperators = () => routes().filter(({ config }) => config.callers?.includes('operator'));

/** All belong to the tenant. */
const ids = () => ({
  ...{ ...tenant, runId, sessionId, interactionId: 'question-1' },
  messageId: runId, // of no message
  tokenId: runId, // of no token
  ...{ endpointId: runId, eventId: runId, version: '1' }, // of none
});

const ask = (call: Call, route: RouteEntry, headers: Record<string, string> = {}) =>
  callRoute(call, route, { ids: ids(), headers });

type Call = ReturnType<typeof caller>;

function expectRefused({ method, url }: RouteEntry, answer: Answer, status: number): void {
  const code = method === 'HEAD' ? undefined : 'UNAUTHORIZED';
  const what = `${method} ${url}: ${answer.text}`;
  expect([answer.status, answer.json?.error.code], what).toEqual([status, code]);
  expect(answer.headers.get('x-ratelimit-limit'), what).toMatch(/^\d+$/);
}

/** Every row and every call to Temporal, except what is written in batches. */
async function state() {
  const { database, asked } = fixture;
  const tables = await database.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_name <> 'key_usage' order by 1`,
  );
  const rows = tables.rows.map(async ({ name }) => {
    const found = await database.pool.query<{ row: string }>(
      `select (to_jsonb(t) - $1::text[])::text as row from "${name}" t order by 1`,
      [['last_used_at', 'workflow_started_at', 'signalled_at']],
    );
    return [name, found.rows.map(({ row }) => row)];
  });
  return { rows: await Promise.all(rows), asked: JSON.stringify(asked) };
}

describe('with an API key', () => {
  test('rejects a missing or invalid key on every route, without effect', async () => {
    const { expired, revoked } = await deadKeys();
    const before = await state();
    const headers: Record<string, string>[] = [
      {},
      { authorization: 'Bearer' },
      { authorization: `Basic ${tenant.key}` },
      { authorization: tenant.key },
      { authorization: `Bearer ${tenant.key} x` },
      { authorization: `Bearer frs_${'A'.repeat(43)}` },
      { authorization: `Bearer ${tenant.key.slice(0, -1)}` },
      { authorization: `Bearer ${expired}` },
      { authorization: `Bearer ${revoked}` },
    ];
    for (const route of keyed()) {
      for (const header of headers) {
        expectRefused(route, await ask(caller(api, null), route, header), 401);
      }
    }
    expect(await state()).toEqual(before);
    expect((await caller(api, null)('/api/v1/unknown')).status).toBe(401);
  });

  test('rejects an invalid key in the query, and any key in the query except for streams', async () => {
    const { expired, revoked } = await deadKeys();
    const before = await state();
    const keys = ['', 'x', `frs_${'A'.repeat(43)}`, tenant.key.slice(0, -1), expired, revoked];
    const askBy = (route: RouteEntry, query: string, headers: Record<string, string> = {}) =>
      caller(api, null)(`${addressOf(route.url, ids())}?${query}`, {
        method: route.method,
        headers,
      });
    const isStream = ({ config }: RouteEntry) => config.acceptsKeyInQuery === true;
    expect(
      keyed()
        .filter(isStream)
        .map(({ url }) => url),
    ).toEqual(['/api/v1/runs/:runId/stream']);
    for (const route of keyed().filter(isStream)) {
      for (const key of keys) expectRefused(route, await askBy(route, `api_key=${key}`), 401);
      const twice = await askBy(route, `api_key=${tenant.key}&api_key=${revoked}`);
      expectRefused(route, twice, 401);
      for (const [inHeader, inQuery] of [
        [tenant.key, revoked],
        [revoked, tenant.key],
        [expired, expired],
      ]) {
        const headers = { authorization: `Bearer ${inHeader}` };
        expectRefused(route, await askBy(route, `api_key=${inQuery}`, headers), 401);
      }
      const otherTenant = await fixture.tenant();
      const answer = await askBy(route, `api_key=${otherTenant.key}`);
      expect([answer.status, answer.json.error.code]).toEqual([404, 'NOT_FOUND']);
      expect(answer.text).not.toContain(tenant.projectId);
    }
    const after = await state();
    expect(after.asked).toEqual(before.asked);
    for (const route of keyed().filter((each) => !isStream(each))) {
      expectRefused(route, await askBy(route, `api_key=${tenant.key}`), 401);
    }
    expect(await state()).toEqual(after);
  });

  test('rejects access to another project, without effect', async () => {
    const otherTenant = await fixture.tenant();
    const before = await state();
    for (const route of keyed()) {
      const answer = await ask(caller(api, otherTenant.key), route);
      const what = `${route.method} ${route.url}`;
      expect(answer.text, what).not.toContain(tenant.projectId);
      const expected = otherStatuses[what];
      if (expected !== undefined) expect([what, answer.status]).toEqual([what, expected]);
      else if (route.url.includes(':')) expectRefused(route, answer, 403);
      else expect([what, answer.status]).toEqual([what, 200]);
    }
    expect(await state()).toEqual(before);
  });

  test("allows access to the key's own project", async () => {
    for (const route of endsLast(keyed())) {
      if (route.config.acceptsKeyInQuery === true) continue; // answers without an end
      const { status, text } = await ask(caller(api, tenant.key), route);
      expect([401, 403, 500], `${route.method} ${route.url}: ${text}`).not.toContain(status);
    }
  });
});

describe('with an operator’s session', () => {
  test('rejects requests without a session or with an API key, without effect', async () => {
    const before = await state();
    const headers: Record<string, string>[] = [
      {},
      { cookie: 'flowrun_operator=' },
      { cookie: `flowrun_operator=${'A'.repeat(43)}` },
      { cookie: `flowrun_operator=${tenant.key}` },
      { authorization: `Bearer ${tenant.key}` },
    ];
    expect(ofOperators().length).toBeGreaterThan(0);
    for (const route of ofOperators()) {
      for (const header of headers) {
        const ownPage = { origin: publicUrl, ...header };
        expectRefused(route, await ask(caller(api, null), route, ownPage), 401);
      }
    }
    expect(await state()).toEqual(before);
  });

  test('rejects a session on routes that need an API key', async () => {
    const cookie = await signIn();
    const me = await caller(api, null)('/api/me', { headers: { cookie } });
    expect(me.status).toBe(200);
    for (const route of keyed()) {
      expectRefused(route, await ask(caller(api, null), route, { cookie, origin: publicUrl }), 401);
    }
  });

  test('rejects writes from another origin', async () => {
    const cookie = await signIn();
    const before = await state();
    for (const route of ofOperators()) {
      if (route.method === 'GET' || route.method === 'HEAD') continue;
      for (const origin of ['https://elsewhere.example', 'null', '']) {
        const headers = { cookie, ...(origin === '' ? {} : { origin }) };
        expectRefused(route, await ask(caller(api, null), route, headers), 403);
      }
    }
    expect(await state()).toEqual(before);
  });
});

/** Keys of the project that are no longer valid. */
async function deadKeys(): Promise<{ expired: string; revoked: string }> {
  const named = { name: 'ci', createdBy: 'ana', rateLimitRpm: 60, projectId: tenant.projectId };
  const expiresAt = new Date(Date.now() - 1_000);
  const expired = await fixture.stores.keys.create({ ...named, expiresAt });
  const revoked = await fixture.stores.keys.create(named);
  await fixture.stores.keys.revoke(revoked.record.keyId);
  return { expired: expired.key, revoked: revoked.key };
}

/** Routes that answer another project's key with a status other than 403. */
const otherStatuses: Record<string, number> = {
  'GET /api/v1/runs/:runId/stream': 404,
  'POST /api/v1/flows/:flowId/sessions': 404,
  'POST /api/v1/runs/:runId/messages': 410,
};

async function signIn(): Promise<string> {
  const { code } = await fixture.stores.operators.invite('ana');
  const headers = { origin: publicUrl };
  return cookieOf(await caller(api, null)('/api/sign-in', { body: { code }, headers }));
}
