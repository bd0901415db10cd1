import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import type { Tenant } from '../../support/api-fixture.ts';
import { rawCall } from './raw-call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();
let runId: string;
let foreignRunId: string;

beforeAll(async () => {
  const other = await fixture.tenant();
  runId = await newRun(tenant);
  foreignRunId = await newRun(other);
});

async function newRun({ flowId, key }: Tenant): Promise<string> {
  const path = `/api/v1/flows/${flowId}/runs`;
  return (await send('POST', path, { body: { prompt: 'Go' }, key })).json.data.runId;
}

interface Asked {
  body?: unknown;
  key?: string | null;
}

async function send(method: string, path: string, { body, key = tenant.key }: Asked = {}) {
  const requestedAtMs = Date.now();
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { status, headers } = response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream');
  const text = isStream ? '' : await response.text();
  if (isStream) await response.body?.cancel();
  return { requestedAtMs, status, headers, json: text.startsWith('{') ? JSON.parse(text) : null };
}

type Headers = { get: (name: string) => string | null };

interface Expected {
  limit: number;
  isCounted: boolean;
  requestedAtMs: number;
}

/** Consistent integers; the reset time of a full bucket is now. */
function expectRateHeaders(headers: Headers, { limit, isCounted, requestedAtMs }: Expected): void {
  const numbers = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
  for (const each of numbers) expect(each).toMatch(/^\d+$/);
  const [max = 0, remaining = 0, reset = 0] = numbers.map(Number);
  expect(max).toBe(limit);
  expect(remaining).toBeLessThanOrEqual(max);
  if (!isCounted) expect(remaining).toBe(max);
  const fullAtMs = reset * 1_000;
  expect(fullAtMs).toBeGreaterThan(requestedAtMs - 1_000);
  expect(fullAtMs).toBeLessThanOrEqual(Date.now() + (isCounted ? 61_000 : 1_000));
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
}

const counted: [status: number, method: string, path: () => string, body?: unknown][] = [
  [200, 'GET', () => '/api/v1/flows'],
  [200, 'HEAD', () => '/api/v1/flows'],
  [200, 'GET', () => `/api/v1/runs/${runId}/stream`],
  [201, 'POST', () => `/api/v1/flows/${tenant.flowId}/runs`, { prompt: 'Go' }],
  [400, 'POST', () => `/api/v1/flows/${tenant.flowId}/runs`, { prompt: 7 }],
  [400, 'POST', () => `/api/v1/flows/${tenant.flowId}/runs`, '{'],
  [403, 'GET', () => `/api/v1/runs/${foreignRunId}`],
  [404, 'GET', () => `/api/v1/runs/${randomUUID()}`],
  [404, 'GET', () => '/api/v1/runs/not-a-uuid'],
  [404, 'GET', () => '/api/v1/nothing'],
  [404, 'GET', () => `/api/v1/runs/${randomUUID()}/stream`],
  [405, 'PUT', () => '/api/v1/flows'],
  [410, 'POST', () => `/api/v1/runs/${runId}/messages`, { message: 'Hi' }],
  [413, 'POST', () => `/api/v1/runs/${runId}/stop`, ' '.repeat(limits.http.smallBodyMaxBytes + 1)],
];

test.each(counted)(
  'a counted call answered with %i to %s has the headers of its key',
  async (...given) => {
    const [status, method, path, body] = given;
    const answer = await send(method, path(), { body });
    expect(answer.status).toBe(status);
    expectRateHeaders(answer.headers, { limit: 10_000, isCounted: true, ...answer });
  },
);

test.each([
  [200, 'GET', '/healthz'],
  [200, 'GET', '/readyz'],
  [200, 'GET', '/api/v1/openapi.json'],
  [400, 'GET', '/api/v1/runs/%zz'],
  [401, 'GET', '/api/v1/flows'],
  [401, 'GET', '/api/v1/nothing'],
  [401, 'GET', '/api/projects'],
  [403, 'POST', '/api/sign-in'],
  [200, 'GET', '/sign-in'],
  [401, 'GET', `/api/v1/runs/${randomUUID()}/stream`],
  [404, 'GET', '/nothing'],
  [405, 'POST', '/healthz'],
  [414, 'GET', `/api/v1/runs/${'x'.repeat(2_000)}`],
] as const)('without a key, %i to %s %s says 60, 60 and now', async (status, method, path) => {
  const answer = await send(method, path, { key: null });
  expect(answer.status).toBe(status);
  expectRateHeaders(answer.headers, { limit: 60, isCounted: false, ...answer });
});

test('a rejected key gets no rate headers', async () => {
  for (const key of ['x', `frs_${'A'.repeat(43)}`]) {
    const answer = await send('GET', '/api/v1/flows', { key });
    expect(answer.status).toBe(401);
    expectRateHeaders(answer.headers, { limit: 60, isCounted: false, ...answer });
  }
});

test.each([
  [400, 'what is no HTTP', () => 'HELLO\r\n\r\n'],
  [400, 'an unknown method', () => 'FOO / HTTP/1.1\r\nhost: a\r\n\r\n'],
  [400, 'no host', () => `GET /api/v1/flows HTTP/1.1\r\n${withKey()}\r\n`],
  [400, 'a bad chunk', () => `${postTo('/api/v1/flows')}transfer-encoding: chunked\r\n\r\nzz\r\n`],
  [431, 'headers beyond the bound', () => `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`],
])('%i to %s, sent byte by byte, has headers and envelope', async (status, _what, bytes) => {
  const requestedAtMs = Date.now();
  const [head = '', body = ''] = (await rawCall(api, bytes())).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const headers = headersOf(head);
  expectRateHeaders(headers, { limit: 60, isCounted: false, requestedAtMs });
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(JSON.parse(body).error).toMatchObject({ code: 'VALIDATION_ERROR' });
});

test('an Expect header does not change the answer', async () => {
  for (const expectation of ['100-continue', 'banana']) {
    const bytes = `${postTo(`/api/v1/flows/${tenant.flowId}/runs`)}expect: ${expectation}\r\n`;
    const requestedAtMs = Date.now();
    const text = await rawCall(api, `${bytes}content-length: 15\r\n\r\n{"prompt":"Go"}`);
    const head = text.replace('HTTP/1.1 100 Continue\r\n\r\n', '').split('\r\n\r\n')[0] ?? '';
    expect(head).toMatch(/^HTTP\/1.1 201 /);
    expectRateHeaders(headersOf(head), { limit: 10_000, isCounted: true, requestedAtMs });
  }
});

const withKey = () => `authorization: Bearer ${tenant.key}\r\nconnection: close\r\n`;
const postTo = (path: string) =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${withKey()}`;

function headersOf(head: string): Headers {
  const [, ...lines] = head.split('\r\n');
  const all = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.split(': ')[1]]),
  );
  return { get: (name) => all.get(name) ?? null };
}
