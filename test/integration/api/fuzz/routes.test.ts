// Hostile requests to every route, described or not, by every kind of caller.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildStubApi } from '../../../../dev/docs-gen/stub-api.ts';
import { type ApiFixture, openApiFixture, publicUrl } from '../../../support/api-fixture.ts';
import { caller } from '../call.ts';
import { endsLast } from '../route-calls.ts';
import { assertAnswers } from './assert-answers.ts';
import { type Checked, checkHeaders, checkNoFault, checkRefusal } from './check-answer.ts';
import { createFuzzData, type FuzzData } from './fuzz-data.ts';
import { operatorsIds, signIn } from './operators-data.ts';
import { type RouteRequest, requestToRoute } from './route-requests.ts';

const total = Number(process.env['FUZZ_REQUESTS'] ?? 4_000) / 10;
const batchSize = 5;

const bare = await buildStubApi('http://127.0.0.1:8080');
const routes = endsLast(bare.routeTable).map(
  (route) => [`${route.method} ${route.url}`, route] as const,
);
await bare.close();

let fixture: ApiFixture;
let data: FuzzData;
let operators: Record<string, string>;
/** The headers of each kind of caller. */
let credentials: Record<string, string>[];

beforeAll(async () => {
  fixture = await openApiFixture();
  data = await createFuzzData(fixture, 1);
  operators = {
    ...(await operatorsIds(fixture, data.tenant.projectId)),
    build: 'none',
    file: 'none',
  };
  const [key = ''] = data.keys;
  const cookie = await signIn(fixture, data.api);
  const bearers = [key, await runToken(key), await operatorToken()];
  credentials = [
    {},
    { cookie, origin: publicUrl },
    ...bearers.map((token) => ({ authorization: `Bearer ${token}` })),
  ];
});
afterAll(() => fixture.close());

const idOf = (parameter: string, choice: number): string => {
  if (parameter === '*') return choice % 2 === 0 ? 'a.txt' : 'none/b c.txt';
  return operators[parameter] ?? data.idOf(parameter, choice);
};

test.each(routes)('answers hostile requests to %s', async (_name, route) => {
  const refusesInEnvelope = !route.url.endsWith('/mcp') && route.method !== 'HEAD';
  await assertAnswers({
    request: requestToRoute(route, idOf, credentials),
    send,
    check(_request, answer) {
      checkHeaders(answer);
      checkNoFault(answer);
      if (answer.status >= 400 && refusesInEnvelope) checkRefusal(answer);
    },
    batches: Math.ceil(total / routes.length / batchSize),
    batchSize,
  });
});

async function runToken(key: string): Promise<string> {
  const { projectId } = data.tenant;
  const text = 'select id from runs where project_id = $1 and ended_at is null limit 1';
  const { rows } = await fixture.database.pool.query<{ id: string }>(text, [projectId]);
  const path = `/api/v1/runs/${rows[0]?.id}/token`;
  const answer = await caller(data.api, key)(path, { body: {} });
  expect(answer.status).toBe(201);
  return answer.json.data.token;
}

async function operatorToken(): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const created = await fixture.stores.operatorTokens.create({
    operator: 'ana',
    name: 'ci',
    expiresAt,
  });
  if (created === null) throw new Error('the operator does not exist');
  return created.token;
}

/** The end of a stream is not awaited. */
async function send({ operation, path, headers, body }: RouteRequest): Promise<Checked> {
  const abort = new AbortController();
  const response = await fetch(`${data.api.url}${path}`, {
    method: operation.method,
    headers,
    redirect: 'manual',
    signal: abort.signal,
    ...(body === undefined ? {} : { body }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await response.text();
  if (isStream) abort.abort();
  return { status: response.status, headers: response.headers, text };
}
