// Hostile requests to every described operation for operators, by one who is signed in.

import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Node } from '../../../../api/openapi/json-tree.ts';
import { buildStubApi } from '../../../../dev/docs-gen/stub-api.ts';
import { publicUrl } from '../../../support/api-fixture.ts';
import { caller } from '../call.ts';
import { useApi } from '../use-api.ts';
import { assertAnswers, atOnce, sentAgain } from './assert-answers.ts';
import { answerCheck, type Checked } from './check-answer.ts';
import { operationsOf } from './operations.ts';
import { operatorsIds, sessionEventIds, signIn } from './operators-data.ts';
import { type FuzzRequest, requestTo } from './requests.ts';
import { schemaValues } from './schema-values.ts';

const total = Math.ceil(Number(process.env['FUZZ_REQUESTS'] ?? 10_000) / 4);
const timeout = 120_000 + total * 20;

const bare = await buildStubApi('http://127.0.0.1:8080');
const document = JSON.parse(JSON.stringify(bare.swagger())) as Node;
await bare.close();
// fuzz.test.ts tests the handlers that operators share with keys.
const withOwnHandlers = ['listFlowsOfProject', 'listRunsOfProject', 'readRunOfProject'];
const isShared = (operationId: string) =>
  operationId.endsWith('OfProject') && !withOwnHandlers.includes(operationId);

// Signing out would end the session of the test. Others read what a DELETE removes.
const operations = operationsOf(document)
  .filter(({ path }) => !/^\/(api\/v1\/|mcp$)/.test(path) && !/^\/api\/sign-(in|out)$/.test(path))
  .filter(({ operationId }) => !isShared(operationId))
  .sort((one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'));

const { fixture, api } = useApi();
let cookie: string;
const ids: Record<string, string> = {};
let eventOfSession: Record<string, string>;

beforeAll(async () => {
  const { projectId, flowId, key } = await fixture.tenant();
  const call = caller(api, key);
  const started = await call(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go' } });
  const { runId } = started.json.data;
  Object.assign(ids, { flowId, runId, ...(await operatorsIds(fixture, projectId)) });
  const callbackUrl = 'https://hooks.example/session';
  const opened = await call(`/api/v1/flows/${flowId}/sessions`, { body: { callbackUrl } });
  eventOfSession = await sessionEventIds(fixture, opened.json.data.runId);
  cookie = await signIn(fixture, api);
});

function idsOf({ path }: { path: string }) {
  const isOfSession = path.includes('/webhook/events');
  return (parameter: string, choice: number): string => {
    const known = isOfSession ? { ...ids, ...eventOfSession } : ids;
    return choice % 8 === 0 ? randomUUID() : (known[parameter] ?? '');
  };
}

test.each(operations.map((operation) => [operation.operationId, operation] as const))(
  'answers every request to %s as described',
  async (_name, operation) => {
    const isDescribed = answerCheck(document);
    const seen = new Set<number>();
    await assertAnswers({
      request: requestTo(operation, schemaValues(document), idsOf(operation)),
      send,
      check(request, answer) {
        isDescribed(request, answer);
        expect(answer.status).toBeLessThan(500);
        expect(answer.status).not.toBe(401);
        seen.add(answer.status);
      },
      batches: Math.ceil(total / operations.length / atOnce),
    });
    // Otherwise only the validation was tested. The flow has no schedule.
    const isRead = operation.method === 'GET' && operation.operationId !== 'readSchedule';
    if (isRead) expect(Math.min(...seen)).toBeLessThan(400);
  },
  timeout,
);

test('less than one request in a hundred was retried', () => {
  expect(sentAgain.requests).toBeLessThan(total / 100);
});

async function send({ operation, path, headers, body }: FuzzRequest): Promise<Checked> {
  const response = await fetch(`${api.url}${path}`, {
    method: operation.method,
    headers: { ...headers, cookie, origin: publicUrl },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
