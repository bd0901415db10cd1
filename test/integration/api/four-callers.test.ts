// The statuses of twelve routes, written by hand, for a key as it always was, a key that reads, a
// run token and an operator token.

import { beforeAll, expect, test } from 'vitest';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();
const paths: Record<string, string> = {};
let tokens: string[];

beforeAll(async () => {
  const { projectId, flowId, key } = tenant;
  const body = { sessionId: 'support' };
  const { runId } = (await call(`/api/v1/flows/${flowId}/sessions`, { body })).json.data;
  const another = (await call(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } })).json;
  const { json } = await call(`/api/v1/runs/${runId}/token`, { body: {} });
  const named = { projectId, name: 'reader', createdBy: 'ana', rateLimitRpm: 1_000 };
  const reader = await fixture.stores.keys.create({ ...named, scopes: ['read'] });
  await fixture.stores.operators.invite('olga');
  const expiresAt = new Date(Date.now() + 3_600_000);
  const fields = { operator: 'olga', name: 'ci', expiresAt, projectIds: [projectId] };
  const created = await fixture.stores.operatorTokens.create(fields);
  tokens = [key, reader.key, json.data.token, created?.token ?? ''];
  Object.assign(paths, {
    flows: '/api/v1/flows',
    flow: `/api/v1/flows/${flowId}`,
    run: `/api/v1/runs/${runId}`,
    another: `/api/v1/runs/${another.data.runId}`,
    project: `/api/projects/${projectId}`,
    ofProject: `/api/projects/${projectId}/runs/${runId}`,
  });
});

const message = { message: 'Hello', sessionId: 'support' };
const labels = { labels: { stage: 'two' } };

// The last calls end the run of the session.
test.each([
  // route, body; key without scopes, key with `read`, run token, operator token
  ['GET', 'flows', '', undefined, [200, 200, 403, 401]],
  ['GET', 'run', '', undefined, [200, 200, 200, 401]],
  ['GET', 'another', '', undefined, [200, 200, 403, 401]],
  ['GET', 'run', '/logs', undefined, [200, 200, 200, 401]],
  ['POST', 'flow', '/chat', message, [202, 403, 202, 401]],
  ['POST', 'flow', '/runs', { prompt: 'Go' }, [201, 403, 403, 401]],
  ['PATCH', 'run', '/labels', labels, [200, 403, 403, 401]],
  ['POST', 'run', '/token', {}, [201, 201, 403, 401]],
  ['GET', 'ofProject', '/logs', undefined, [401, 401, 401, 200]],
  ['POST', 'project', '/keys', { name: 'spare' }, [401, 401, 401, 201]],
  ['POST', 'run', '/stop', {}, [200, 403, 403, 401]],
  ['POST', 'ofProject', '/stop', {}, [401, 401, 401, 200]],
] as const)('%s %s%s %j answers %j', async (method, path, rest, body, expected) => {
  const statuses = [];
  for (const token of tokens) {
    const answer = await caller(api, token)(`${paths[path]}${rest}`, { method, body });
    statuses.push(answer.status);
  }
  expect(statuses).toEqual(expected);
});
