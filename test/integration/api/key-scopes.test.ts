import { beforeAll, describe, expect, test } from 'vitest';
import { keyScopesMax } from '../../../core/keys/key-scopes.ts';
import { caller } from './call.ts';
import { type OperatorClient, signedIn } from './operators/operator-client.ts';
import { callRoute, endsLast } from './route-calls.ts';
import { scopesOfRoutes } from './route-list.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

const otherFlow = 'flow:5e2f1f0a-0000-4000-8000-000000000000';

interface ScopedKey {
  /** `flow:own` is replaced with the flow of the tenant. */
  scopes: string[];
  /** Whether the tenant's flow is in these scopes. */
  hasFlow: boolean;
}

const all: ScopedKey[] = [
  { scopes: ['read'], hasFlow: true },
  { scopes: ['run'], hasFlow: true },
  { scopes: ['chat'], hasFlow: true },
  { scopes: ['read', 'chat'], hasFlow: true },
  { scopes: ['flow:own'], hasFlow: true },
  { scopes: ['chat', 'flow:own', otherFlow], hasFlow: true },
  { scopes: [otherFlow], hasFlow: false },
  { scopes: ['read', otherFlow], hasFlow: false },
  // Of a later version, which ran before this one.
  { scopes: ['files'], hasFlow: true },
  { scopes: ['files', 'flow:own'], hasFlow: true },
];

test.each(all)('a key with $scopes may call exactly the routes in its scopes', async (row) => {
  const tenant = await fixture.tenant();
  const ownFlow = `flow:${tenant.flowId}`;
  const scopes = row.scopes.map((scope) => (scope === 'flow:own' ? ownFlow : scope));
  const named = { projectId: tenant.projectId, name: 'scoped', createdBy: 'ana' };
  const scoped = await fixture.stores.keys.create({ ...named, rateLimitRpm: 10_000, scopes });
  const whole = caller(api, tenant.key);
  const sessionId = 'session-1';
  const sessionsPath = `/api/v1/flows/${tenant.flowId}/sessions`;
  const session = (await whole(sessionsPath, { body: { sessionId } })).json.data;
  const run = await whole(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go' } });
  const { runId } = run.json.data;
  const ofNone = { interactionId: 'question-1', messageId: runId, version: '1' };
  const ids = { ...tenant, ...ofNone, runId, sessionId };

  const keyed = api.app.routeTable.filter(({ config }) => config.callers?.includes('key'));
  for (const route of endsLast(keyed)) {
    const name = `${route.method === 'HEAD' ? 'GET' : route.method} ${route.url}`;
    // A route for both kinds of runs is called with one of each.
    for (const kind of isForBoth(name) ? (['run', 'chat'] as const) : [null]) {
      const isPermitted = isInScopes(row, name, kind);
      // The stream of a run that is not deleted is endless.
      if (isPermitted && route.config.isStream === true)
        await whole(`/api/v1/runs/${runId}`, { method: 'DELETE' });
      const called = kind === 'chat' ? { ...ids, runId: session.runId } : ids;
      const answer = await callRoute(caller(api, scoped.key), route, { ids: called });
      expect([name, kind, answer.status === 403], answer.text).toEqual([name, kind, !isPermitted]);
      if (isPermitted || route.method === 'HEAD') continue;
      expect(answer.json.error).toEqual({ code: 'UNAUTHORIZED', message: expect.any(String) });
    }
  }
});

/** The retired route is the same for every run. A tool of MCP has the scopes of its route. */
const isForAnyScope = (name: string) => /^POST .*\/(messages|mcp)$/.test(name);

function isForBoth(name: string): boolean {
  const permitted = scopesOfRoutes[name] ?? [];
  return permitted.includes('run') && permitted.includes('chat') && !isForAnyScope(name);
}

/** `kind`: the scope for the kind of the run, on a route for both. */
function isInScopes(
  { scopes, hasFlow }: ScopedKey,
  name: string,
  kind: 'run' | 'chat' | null,
): boolean {
  const actions = scopes.filter((scope) => !scope.startsWith('flow:'));
  const permitted = kind === null ? (scopesOfRoutes[name] ?? []) : [kind];
  if (actions.length > 0 && !permitted.some((action) => actions.includes(action))) return false;
  // This file is one of the flow.
  const addsToFlow = name === 'POST /api/v1/runs/:runId/files';
  if (actions.length > 0 && addsToFlow && !actions.includes('run')) return false;
  // The lists leave out other flows.
  return hasFlow || !/:(flowId|runId)/.test(name) || isForAnyScope(name);
}

describe('a key that is limited to one of two flows', () => {
  async function twoFlows() {
    const tenant = await fixture.tenant();
    const { projectId } = tenant;
    const hidden = await fixture.stores.flows.create({ projectId, name: 'hidden' });
    const named = { projectId, name: 'scoped', createdBy: 'ana' };
    const scopes = [`flow:${tenant.flowId}`];
    const { key } = await fixture.stores.keys.create({ ...named, scopes });
    const trigger = (flowId: string, by: string, headers = {}) =>
      caller(api, by)(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' }, headers });
    return { tenant, hidden, key, call: caller(api, key), trigger };
  }

  test('lists only that flow and its runs, and cannot reach the others', async () => {
    const { tenant, hidden, key, call, trigger } = await twoFlows();
    const shown = (await trigger(tenant.flowId, key)).json.data.runId;
    const other = (await trigger(hidden.flowId, tenant.key)).json.data.runId;
    const idsOf = async (path: string, field: string) =>
      (await call(path)).json.data.map((each: Record<string, string>) => each[field]);
    expect(await idsOf('/api/v1/flows', 'flowId')).toEqual([tenant.flowId]);
    expect(await idsOf('/api/v1/runs', 'runId')).toEqual([shown]);
    expect(await idsOf(`/api/v1/runs?flowId=${hidden.flowId}`, 'runId')).toEqual([]);
    expect((await call(`/api/v1/runs/${other}`)).status).toBe(403);
    expect((await trigger(hidden.flowId, key)).status).toBe(403);
  });

  test('lists the runs of several flows in order, and each once', async () => {
    const { tenant, hidden, trigger } = await twoFlows();
    const { projectId, flowId } = tenant;
    const third = await fixture.stores.flows.create({ projectId, name: 'third' });
    const triggered: string[] = [];
    for (const id of [flowId, hidden.flowId, third.flowId, flowId, third.flowId, flowId])
      triggered.push((await trigger(id, tenant.key)).json.data.runId);
    const shown = triggered.filter((_, index) => index !== 1).reverse();
    const foreign = await fixture.tenant();
    const flows = [flowId, third.flowId, third.flowId, foreign.flowId].map((id) => `flow:${id}`);
    const named = { projectId, name: 'scoped', createdBy: 'ana' };
    const { key } = await fixture.stores.keys.create({ ...named, scopes: flows });
    const call = caller(api, key);
    const idsOf = async (query: string) => {
      const { json, headers } = await call(`/api/v1/runs?${query}`);
      const ids = json.data.map(({ runId }: { runId: string }) => runId);
      const cursor = /[?&]cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1];
      return { ids, cursor };
    };
    const first = await idsOf('limit=2');
    const second = await idsOf(`limit=2&cursor=${first.cursor}`);
    const last = await idsOf(`limit=2&cursor=${second.cursor}`);
    expect([...first.ids, ...second.ids, ...last.ids]).toEqual(shown);
    expect(last.cursor).toBeUndefined();
    expect((await idsOf('triggerType=api')).ids).toEqual(shown);
    const ofThird = [triggered[4], triggered[2]];
    expect((await idsOf(`flowId=${third.flowId.toUpperCase()}`)).ids).toEqual(ofThird);
    for (const id of [hidden.flowId, foreign.flowId])
      expect((await idsOf(`flowId=${id}`)).ids).toEqual([]);
  });

  test('does not get a run of another flow by its idempotency key', async () => {
    const { tenant, hidden, key, trigger } = await twoFlows();
    const headers = { 'idempotency-key': 'order-1' };
    const first = await trigger(hidden.flowId, tenant.key, headers);
    expect(first.status).toBe(201);
    const repeated = await trigger(tenant.flowId, key, headers);
    expect([repeated.status, repeated.json.error?.code]).toEqual([403, 'UNAUTHORIZED']);
    expect(repeated.text).not.toContain(first.json.data.runId);
    expect((await trigger(tenant.flowId, tenant.key, headers)).status).toBe(200);
  });
});

test('a rejected call takes a token of the key', async () => {
  const { projectId } = await fixture.tenant();
  const named = { projectId, name: 'slow', createdBy: 'ana', rateLimitRpm: 1 };
  const { key } = await fixture.stores.keys.create({ ...named, scopes: ['chat'] });
  expect((await caller(api, key)('/api/v1/flows')).status).toBe(403);
  expect((await caller(api, key)('/api/v1/flows')).json.error.code).toBe('RATE_LIMITED');
});

describe('an operator', () => {
  const create = async (scopes?: unknown) => {
    const { projectId } = await fixture.tenant();
    return operator(`/api/projects/${projectId}/keys`, { body: { name: 'k', scopes } });
  };

  test('creates keys with scopes, or without by default', async () => {
    expect((await create()).json.data.scopes).toBeNull();
    const scopes = ['read', otherFlow];
    const created = await create(scopes);
    expect(created.json.data.scopes).toEqual(scopes);
    const { projectId, keyId } = created.json.data;
    const read = await operator(`/api/projects/${projectId}/keys/${keyId}`);
    expect(read.json.data.scopes).toEqual(scopes);
  });

  test('gives a key up to a hundred scopes', async () => {
    const scopes = Array.from({ length: keyScopesMax }, () => 'read');
    expect((await create(scopes)).status).toBe(201);
    expect((await create([...scopes, 'read'])).status).toBe(400);
  });

  test.each([[[]], [['write']], [['flow:']], [['flow:x']], [['Read']], ['read'], [[1]], [null]])(
    'cannot create a key with the scopes %j',
    async (scopes) => {
      const answer = await create(scopes);
      expect([answer.status, answer.json.error.message]).toEqual([
        400,
        expect.stringContaining('body.scopes'),
      ]);
    },
  );
});
