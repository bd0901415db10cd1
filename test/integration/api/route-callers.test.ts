// Every route of the application, called by every kind of caller. route-list.ts says what a caller
// may do, so a new route without a line there makes these tests fail.

import { expect, test } from 'vitest';
import type { CallerKind } from '../../../api/auth/callers.ts';
import type { RouteEntry } from '../../../api/http/route-table.ts';
import type { NewOperatorToken } from '../../../systems/postgres/accounts/operator-token-store.ts';
import { publicUrl, type Tenant } from '../../support/api-fixture.ts';
import { addEndpoint } from '../../support/endpoints.ts';
import { agentTokenOf } from './agent-caller.ts';
import { caller } from './call.ts';
import { cookieOf } from './operators/operator-client.ts';
import { callRoute, endsLast } from './route-calls.ts';
import { routesByCaller, scopesOfRoutes } from './route-list.ts';
import { useApi } from './use-api.ts';

const { fixture, api } = useApi();
const nameOf = ({ method, url }: Pick<RouteEntry, 'method' | 'url'>) =>
  `${method === 'HEAD' ? 'GET' : method} ${url}`;

test('every route with an API key declares the listed scopes', () => {
  for (const { method, url, config } of api.app.routeTable) {
    const name = nameOf({ method, url });
    expect([name, config.scopes], name).toEqual([name, scopesOfRoutes[name]]);
  }
});

test('every route declares the listed callers', () => {
  const declared = api.app.routeTable.flatMap((route) => {
    const { callers = [] } = route.config;
    return callers.length === 0
      ? [`no caller: ${nameOf(route)}`]
      : callers.map((kind) => `${kind}: ${nameOf(route)}`);
  });
  const listed = Object.entries(routesByCaller).flatMap(([kind, names]) =>
    names.map((name) => `${kind}: ${name}`),
  );
  expect([...new Set(declared)].sort()).toEqual(listed.sort());
});

type Headers = Record<string, string>;
type Ids = Tenant & Awaited<ReturnType<typeof createResources>>;

interface Matrix {
  name: string;
  /** The routes that it may call besides those for anyone. */
  kind: CallerKind;
  headers: (ids: Ids) => Headers | Promise<Headers>;
  /** Its writes are refused. */
  readsOnly?: true;
  /** The refused routes of its kind (`except`), or the only permitted ones (`only`). */
  except?: readonly string[];
  only?: readonly string[];
}

const matrix: Matrix[] = [
  { name: 'a caller without credentials', kind: 'anyone', headers: () => ({ origin: publicUrl }) },
  {
    name: 'an API key',
    kind: 'key',
    headers: ({ key }) => ({ authorization: `Bearer ${key}`, origin: publicUrl }),
  },
  {
    name: 'an API key as a cookie',
    kind: 'anyone',
    headers: ({ key }) => ({ cookie: `flowrun_operator=${key}`, origin: publicUrl }),
  },
  {
    name: 'an operator',
    kind: 'operator',
    headers: async () => ({ cookie: await signIn(), origin: publicUrl }),
  },
  {
    name: 'an operator from elsewhere',
    kind: 'operator',
    headers: async () => ({ cookie: await signIn(), origin: 'https://elsewhere.example' }),
    readsOnly: true,
  },
  {
    name: 'an operator’s session as a key',
    kind: 'anyone',
    headers: async () => ({
      authorization: `Bearer ${(await signIn()).split('=')[1] ?? ''}`,
      origin: publicUrl,
    }),
  },
  {
    name: 'an operator token',
    kind: 'operator-token',
    headers: () => operatorToken({}),
  },
  {
    name: 'an operator token for the project',
    kind: 'operator-token',
    headers: ({ projectId }) => operatorToken({ projectIds: ['other', projectId] }),
    except: ['GET /api/audit', 'GET /api/audit.ndjson', 'POST /api/projects'],
  },
  {
    name: 'an operator token for another project',
    kind: 'operator-token',
    headers: () => operatorToken({ projectIds: ['other'] }),
    only: ['GET /api/projects'],
  },
  {
    name: 'an operator token that has expired',
    kind: 'anyone',
    headers: () => operatorToken({ expiresAt: new Date(Date.now() - 1_000) }),
  },
  {
    name: 'an operator token that was revoked',
    kind: 'anyone',
    headers: () => operatorToken({ isRevoked: true }),
  },
  { name: 'a run token', kind: 'run-token', headers: ({ key, runId }) => runToken(key, runId) },
  {
    name: 'a run token of a key that only reads',
    kind: 'run-token',
    headers: async (ids) => runToken((await newKey(ids, ['read'])).key, ids.runId),
    except: routesByCaller['run-token'].filter((name) => name.startsWith('POST ')),
  },
  {
    name: 'a run token for another run',
    kind: 'run-token',
    headers: ({ key, otherRunId }) => runToken(key, otherRunId),
    only: [],
  },
  {
    name: 'a run token that has expired',
    kind: 'anyone',
    async headers({ key, runId }) {
      const token = await runToken(key, runId);
      const text = 'update run_tokens set expires_at = db_clock() where run_id = $1';
      await fixture.database.pool.query(text, [runId]);
      return token;
    },
  },
  {
    name: 'a run token of a revoked key',
    kind: 'anyone',
    async headers(ids) {
      const { key, record } = await newKey(ids);
      const token = await runToken(key, ids.runId);
      await fixture.stores.keys.revoke(record.keyId);
      return token;
    },
  },
  {
    name: 'the agent of a run, with a run that it has started',
    kind: 'agent',
    headers: (ids) => agentToken(ids, ids.runId),
    // The run is a session, and an agent cannot answer for those.
    except: ['POST /api/v1/runs/:runId/interactions/:interactionId'],
  },
  {
    name: 'the agent of a run, with a run that it has not started',
    kind: 'agent',
    headers: (ids) => agentToken(ids, ids.otherRunId),
    except: routesByCaller.agent.filter((name) => name.includes(':runId')),
  },
];

test.each(matrix)('$name is accepted on exactly the listed routes', async (row) => {
  const tenant = await fixture.tenant();
  const ids = { ...tenant, ...(await createResources(tenant)) };
  const headers = await row.headers(ids);
  for (const route of endsLast(api.app.routeTable)) {
    // The stream of a run that is not deleted is endless.
    if (route.config.isStream === true)
      await caller(api, tenant.key)(`/api/v1/runs/${ids.runId}`, { method: 'DELETE' });
    const { status } = await callRoute(caller(api, null), route, { ids, headers });
    const outcome = status === 401 || status === 403 ? 'refused' : 'accepted';
    const name = `${route.method} ${route.url}`;
    expect(status, name).not.toBe(500);
    expect([name, outcome], String(status)).toEqual([name, expectedFor(row, route)]);
  }
});

function expectedFor(row: Matrix, route: RouteEntry): 'accepted' | 'refused' {
  // The code of its request is unknown.
  if (route.url === '/api/sign-in') return 'refused';
  const { kind, readsOnly, except = [], only = routesByCaller[kind] } = row;
  const ofKind = only.filter((name) => !except.includes(name));
  const names: readonly string[] = [...routesByCaller.anyone, ...ofKind];
  const isRead = route.method === 'GET' || route.method === 'HEAD';
  return names.includes(nameOf(route)) && (isRead || readsOnly !== true) ? 'accepted' : 'refused';
}

/** What the path parameters refer to, besides the tenant's flow. */
async function createResources({ projectId, flowId, key }: Tenant) {
  const call = caller(api, key);
  const sessionId = 'session-1';
  const session = await call(`/api/v1/flows/${flowId}/sessions`, { body: { sessionId } });
  const run = await call(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } });
  const { record } = await newKey({ projectId });
  const { runId } = session.json.data as { runId: string };
  const { runId: otherRunId } = run.json.data as { runId: string };
  const ofNone = { interactionId: 'question-1', messageId: runId, tokenId: runId, eventId: runId };
  const url = 'https://hooks.example/';
  const endpoint = { projectId, url, eventTypes: ['run.finished' as const] };
  const endpointId = await addEndpoint(fixture.database.pool, endpoint);
  const ids = { runId, otherRunId, sessionId, keyId: record.keyId, endpointId };
  return { ...ids, ...ofNone, build: 'none', file: 'none', version: '1' };
}

async function signIn(): Promise<string> {
  const { code } = await fixture.stores.operators.invite('olga');
  const headers = { origin: publicUrl };
  return cookieOf(await caller(api, null)('/api/sign-in', { body: { code }, headers }));
}

interface TokenOptions extends Partial<NewOperatorToken> {
  isRevoked?: true;
}

/** Without the origin of the service, which only cookies need. */
async function operatorToken({ isRevoked, ...fields }: TokenOptions): Promise<Headers> {
  const { operators, operatorTokens } = fixture.stores;
  await operators.invite('olga');
  const expiresAt = new Date(Date.now() + 60_000);
  const named = { operator: 'olga', name: 'ci', expiresAt };
  const created = await operatorTokens.create({ ...named, ...fields });
  if (created === null) throw new Error('the operator was removed');
  if (isRevoked === true) await operatorTokens.revoke(created.record.tokenId);
  return { authorization: `Bearer ${created.token}` };
}

function newKey({ projectId }: Pick<Tenant, 'projectId'>, scopes?: string[]) {
  const named = { projectId, name: 'spare', createdBy: 'ana', rateLimitRpm: 10_000 };
  return fixture.stores.keys.create({ ...named, ...(scopes && { scopes }) });
}

async function runToken(key: string, runId: string): Promise<Headers> {
  const { json } = await caller(api, key)(`/api/v1/runs/${runId}/token`, { body: {} });
  return { authorization: `Bearer ${json.data.token}`, origin: publicUrl };
}

/** The token of an agent that has started the other run. */
async function agentToken({ flowId, key }: Tenant, childRunId: string): Promise<Headers> {
  const childRuns = { maxRuns: 100, maxConcurrent: 100, maxBudgetUsd: null };
  await fixture.stores.flows.change(flowId, () => ({ childRuns }));
  const path = `/api/v1/flows/${flowId}/runs`;
  const { json } = await caller(api, key)(path, { body: { prompt: 'Go' } });
  const text = 'update runs set ancestor_ids = array[$2::uuid] where id = $1';
  await fixture.database.pool.query(text, [childRunId, json.data.runId]);
  return { authorization: `Bearer ${agentTokenOf(json.data.runId)}`, origin: publicUrl };
}
