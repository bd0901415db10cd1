// Hostile requests to the operator routes by a signed-in operator. These routes are not described,
// so the requests are generated from the schemas that validate them.

import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { type ZodType, z } from 'zod';
import type { RouteEntry } from '../../../../api/http/route-table.ts';
import { isNode, type Node, nodeIn } from '../../../../api/openapi/json-tree.ts';
import { buildStubApi } from '../../../../dev/docs-gen/stub-api.ts';
import { publicUrl } from '../../../support/api-fixture.ts';
import { caller } from '../call.ts';
import { cookieOf } from '../operators/operator-client.ts';
import { useApi } from '../use-api.ts';
import { assertAnswers, atOnce, sentAgain } from './assert-answers.ts';
import { type Checked, checkHeaders, checkRefusal } from './check-answer.ts';
import type { Operation, Parameter } from './operations.ts';
import { type FuzzRequest, requestTo } from './requests.ts';
import { schemaValues } from './schema-values.ts';

const total = Math.ceil(Number(process.env['FUZZ_REQUESTS'] ?? 10_000) / 4);
const timeout = 120_000 + total * 20;

const bare = await buildStubApi('http://127.0.0.1:8080');
// Excluded, because signing out would end the session of the test.
const routes = bare.routeTable.filter(
  ({ method, url, config }) =>
    config.operatorAuth === 'signed-in' && method !== 'HEAD' && url !== '/api/sign-out',
);
await bare.close();

const { fixture, api } = useApi();
let cookie: string;
const ids: Record<string, string> = {};

beforeAll(async () => {
  const { projectId, flowId, key } = await fixture.tenant();
  const spare = { name: 'spare', createdBy: 'ana', rateLimitRpm: 60, projectId };
  const { record } = await fixture.stores.keys.create(spare);
  const call = caller(api, key);
  const started = await call(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } });
  Object.assign(ids, { projectId, flowId, keyId: record.keyId, runId: started.json.data.runId });
  const { code } = await fixture.stores.operators.invite('ana');
  const headers = { origin: publicUrl };
  cookie = cookieOf(await caller(api, null)('/api/sign-in', { body: { code }, headers }));
});

const idOf = (parameter: string, choice: number): string =>
  choice % 8 === 0 ? randomUUID() : (ids[parameter] ?? '');

test.each(routes.map((route) => [`${route.method} ${route.url}`, route] as const))(
  'answers every request to %s',
  async (_name, route) => {
    const batches = Math.ceil(total / routes.length / atOnce);
    const request = requestTo(operationOf(route), schemaValues({}), idOf);
    await assertAnswers({ request, send, check, batches });
  },
  timeout,
);

test('less than one request in a hundred was retried', () => {
  expect(sentAgain.requests).toBeLessThan(total / 100);
});

function check(_request: FuzzRequest, answer: Checked): void {
  checkHeaders(answer);
  expect(answer.status).toBeLessThan(500);
  expect(answer.status).not.toBe(401);
  if (answer.status >= 400) return checkRefusal(answer);
  expect(Object.keys(JSON.parse(answer.text) as object)).toEqual(['data']);
}

async function send({ operation, path, headers, body }: FuzzRequest): Promise<Checked> {
  const response = await fetch(`${api.url}${path}`, {
    method: operation.method,
    headers: { ...headers, cookie, origin: publicUrl },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function operationOf({ method, url, schema }: RouteEntry): Operation {
  const { querystring, body } = schema as { querystring?: ZodType; body?: ZodType };
  const inPath = [...url.matchAll(/:(\w+)/g)].map(
    ([, name = '']): Parameter => ({
      name,
      in: 'path',
      schema: { type: 'string' },
    }),
  );
  const inQuery = Object.entries(nodeIn(jsonSchemaOf(querystring), 'properties')).map(
    ([name, each]): Parameter => ({ name, in: 'query', schema: isNode(each) ? each : {} }),
  );
  return {
    operationId: `${method} ${url}`,
    method,
    path: url.replaceAll(/:(\w+)/g, '{$1}'),
    parameters: [...inPath, ...inQuery],
    body: body === undefined ? null : jsonSchemaOf(body),
    responses: {},
  };
}

function jsonSchemaOf(schema: ZodType | undefined): Node {
  if (schema === undefined) return {};
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node; // plain JSON
}
