import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { type Answer, caller } from './call.ts';
import { rawCall } from './raw-call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();
let runs: string;

beforeAll(async () => {
  runs = `/api/v1/flows/${tenant.flowId}/runs`;
});

/** Checks the fields that every error has. */
function expectError(answer: Answer, status: number, code: string): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.json).toEqual({ error: { code, message: expect.stringMatching(/./) } });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(answer.headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
  }
}

test.each([
  ['an unknown field', { prompt: 'a', projectId: 'x' }, 'body.projectId: unknown field'],
  [
    'two unknown fields',
    { status: 1, environment: {} },
    'body.status: unknown field; body.environment: unknown field',
  ],
  ['an empty prompt', { prompt: '' }, 'body.prompt'],
  ['a prompt that is no text', { prompt: 7 }, 'body.prompt'],
  ['NUL in a prompt', { prompt: 'a\0b' }, 'body.prompt'],
  ['half a surrogate pair', { prompt: 'a\ud800' }, 'body.prompt'],
  ['a body that is no object', [1], 'body'],
  ['an empty name', { prompt: 'a', name: '' }, 'body.name'],
  ['a name of 201 characters', { prompt: 'a', name: '😀'.repeat(201) }, 'body.name'],
  ['21 labels', { prompt: 'a', labels: numbered(21) }, 'body.labels'],
  ['a label that begins with a dash', { prompt: 'a', labels: { '-a': '' } }, 'body.labels.-a'],
  ['a label without a name', { prompt: 'a', labels: { '': 'x' } }, 'body.labels.'],
  ['a label key of 65', { prompt: 'a', labels: { ['k'.repeat(65)]: '' } }, 'body.labels.k'],
  ['a label value of 257', { prompt: 'a', labels: { k: 'v'.repeat(257) } }, 'body.labels.k'],
  ['a label that is no text', { prompt: 'a', labels: { k: 1 } }, 'body.labels.k'],
  ['labels that are a list', { prompt: 'a', labels: ['k'] }, 'body.labels'],
  ['partialMessages that is no boolean', { prompt: 'a', partialMessages: 'yes' }, 'body.partial'],
  ['a callback over http', { prompt: 'a', callbackUrl: 'http://example.com/' }, 'body.callbackUrl'],
  ['NUL in a callback', { prompt: 'a', callbackUrl: 'https://e.com/a\0' }, 'body.callbackUrl'],
  ['a callback of no form', { prompt: 'a', callbackUrl: 'example' }, 'body.callbackUrl'],
  [
    'credentials in a callback',
    { prompt: 'a', callbackUrl: 'https://u:p@example.com/' },
    'body.call',
  ],
  ['port 25', { prompt: 'a', callbackUrl: 'https://example.com:25/' }, 'body.callbackUrl'],
  ['port 442', { prompt: 'a', callbackUrl: 'https://example.com:442/' }, 'body.callbackUrl'],
  ['port 444', { prompt: 'a', callbackUrl: 'https://example.com:444/' }, 'body.callbackUrl'],
  ['port 1023', { prompt: 'a', callbackUrl: 'https://example.com:1023/' }, 'body.callbackUrl'],
  ['no port at all', { prompt: 'a', callbackUrl: 'https://example.com:65536/' }, 'body.callback'],
  ['a private address', { prompt: 'a', callbackUrl: 'https://10.0.0.1/' }, 'body.callbackUrl'],
  [
    'a mapped address',
    { prompt: 'a', callbackUrl: 'https://[::ffff:10.0.0.1]/' },
    'body.callbackUrl',
  ],
  ['a decimal address', { prompt: 'a', callbackUrl: 'https://167772161/' }, 'body.callbackUrl'],
  ['NAT64', { prompt: 'a', callbackUrl: 'https://[64:ff9b::a00:1]/' }, 'body.callbackUrl'],
  [
    'an embedded loopback address',
    { prompt: 'a', callbackUrl: 'https://[::127.0.0.1]/' },
    'body.callbackUrl',
  ],
  [
    'an address outside 2000::/3',
    { prompt: 'a', callbackUrl: 'https://[4000::1]/' },
    'body.callbackUrl',
  ],
  [
    'a callback of 2049',
    { prompt: 'a', callbackUrl: `https://e.com/${'x'.repeat(2035)}` },
    'body.c',
  ],
])('rejects %s with 400 and the path of the field', async (_what, body, path) => {
  const answer = await call(runs, { body });
  expectError(answer, 400, 'VALIDATION_ERROR');
  expect(answer.json.error.message).toContain(path);
});

test.each([
  ['a name of 200 characters', { prompt: 'a', name: '😀'.repeat(200) }],
  ['20 labels', { prompt: 'a', labels: numbered(20) }],
  ['a label key of 64', { prompt: 'a', labels: { ['k'.repeat(64)]: 'v'.repeat(256) } }],
  ['labels that begin with a digit', { prompt: 'a', labels: { '4711': 'x', '1st.a-b_c': '' } }],
  ['labels that are named like members of objects', { prompt: 'a', labels: { constructor: 'x' } }],
  ['a callback on port 443', { prompt: 'a', callbackUrl: 'https://example.com:443/' }],
  ['a callback on port 1024', { prompt: 'a', callbackUrl: 'https://example.com:1024/' }],
  ['a callback on port 65535', { prompt: 'a', callbackUrl: 'https://example.com:65535/' }],
  ['a callback on port 8443', { prompt: 'a', callbackUrl: 'https://example.com:8443/x?y=z' }],
  [
    'a private address that the operator allows',
    { prompt: 'a', callbackUrl: 'https://127.0.0.1:9443/' },
  ],
  ['a callback of 2048', { prompt: 'a', callbackUrl: `https://e.com/${'x'.repeat(2034)}` }],
])('accepts %s', async (_what, body) => {
  const answer = await call(runs, { body });
  expect(answer.status, answer.text).toBe(201);
  const { name, labels } = body as { name?: string; labels?: object };
  expect(answer.json.data).toMatchObject({ name: name ?? null, labels: labels ?? {} });
});

test('accepts a prompt of 1 MiB, rejects one byte more, and answers 413 to a body over the limit', async () => {
  const prompt = 'é'.repeat(limits.text.promptMaxBytes / 2);
  expect((await call(runs, { body: { prompt } })).status).toBe(201);
  expectError(await call(runs, { body: { prompt: `${prompt}x` } }), 400, 'VALIDATION_ERROR');
  const tooLarge = await call(`/api/v1/runs/${tenant.flowId}/stop`, {
    body: ' '.repeat(limits.http.smallBodyMaxBytes + 1),
  });
  expectError(tooLarge, 413, 'PAYLOAD_TOO_LARGE');
});

test('rejects a body that is not JSON in UTF-8 with the envelope', async () => {
  expectError(await call(runs, { body: '{"prompt":' }), 400, 'VALIDATION_ERROR');
  expectError(await call(runs, { body: '{"__proto__":{"x":1}}' }), 400, 'VALIDATION_ERROR');
  expectError(
    await call(runs, { body: 'hello', headers: { 'content-type': 'text/plain' } }),
    415,
    'VALIDATION_ERROR',
  );
  const latin1 = await fetch(`${api.url}${runs}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
    body: Buffer.from('{"prompt":"\xe9"}', 'latin1'),
  });
  expect(latin1.status).toBe(400);
});

test('treats an empty body as an empty object', async () => {
  const { flowId, key } = await fixture.tenant({ flow: { prompt: 'Go' } });
  const empty = { method: 'POST', headers: { 'content-type': 'application/json' } };
  expect((await caller(api, key)(`/api/v1/flows/${flowId}/runs`, empty)).status).toBe(201);
});

test('rejects unknown and repeated query parameters', async () => {
  expectError(await call('/api/v1/flows?page=2'), 400, 'VALIDATION_ERROR');
  expectError(await call('/api/v1/flows?limit=1&limit=2'), 400, 'VALIDATION_ERROR');
  for (const path of ['openapi', 'postman']) {
    expectError(await call(`/api/v1/${path}.json?page=2`), 400, 'VALIDATION_ERROR');
  }
  for (const limit of ['0', '201', 'x', '1e1', '-1', '']) {
    expectError(await call(`/api/v1/flows?limit=${limit}`), 400, 'VALIDATION_ERROR');
  }
  expect((await call('/api/v1/flows?limit=200')).status).toBe(200);
});

test('answers 404 for an unknown path or malformed ID before reading the body', async () => {
  expectError(await call('/api/v1/nothing'), 404, 'NOT_FOUND');
  expectError(await call('/nothing'), 404, 'NOT_FOUND');
  expectError(await call('/api/v1/runs/not-a-uuid'), 404, 'NOT_FOUND');
  const ofNoVersion = '11111111-1111-f111-1111-111111111111';
  for (const below of ['', '/files', '/files/a.txt', '/logs', '/stream']) {
    expectError(await call(`/api/v1/runs/${ofNoVersion}${below}`), 404, 'NOT_FOUND');
  }
  const question = `/api/v1/runs/${ofNoVersion}/interactions/one`;
  expectError(await call(question, { body: { answers: {} } }), 404, 'NOT_FOUND');
  expect((await call(`/api/v1/runs?flowId=${ofNoVersion}`)).json).toEqual({ data: [] });
  expectError(await call('/api/v1/flows/x/runs', { body: '{{{' }), 404, 'NOT_FOUND');
  expectError(
    await call('/api/v1/nothing', { body: 'x', headers: { 'content-type': 'a/b' } }),
    404,
    'NOT_FOUND',
  );
  expectError(await call(`/api/v1/runs/${tenant.flowId}/`), 404, 'NOT_FOUND');
  expectError(await call(`//api/v1/flows`), 404, 'NOT_FOUND');
});

test('answers 405 with the allowed methods for a known path', async () => {
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'POST']) {
    const answer = await call(`/api/v1/runs/${tenant.flowId}`, { method });
    expectError(answer, 405, 'METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toBe('GET, HEAD, DELETE');
  }
  expect((await call(`/api/v1/runs/${tenant.flowId}/stream`, { method: 'HEAD' })).status).toBe(405);
});

test('answers 410 for run messages with any ID, body and type', async () => {
  for (const id of [tenant.flowId, 'x', 'not-a-uuid']) {
    const messages = `/api/v1/runs/${id}/messages`;
    expectError(await call(messages, { body: '{{' }), 410, 'ENDPOINT_RETIRED');
    expectError(await call(messages, { method: 'POST' }), 410, 'ENDPOINT_RETIRED');
    expectError(await caller(api, null)(messages, { body: {} }), 401, 'UNAUTHORIZED');
  }
});

test('rejects a badly encoded path and a too long segment with the envelope', async () => {
  expectError(await call('/%zz?api_key=secret'), 400, 'VALIDATION_ERROR');
  expectError(await call(`/api/v1/runs/${'x'.repeat(2_000)}`), 414, 'VALIDATION_ERROR');
});

test.each([
  ['what is no HTTP', 'HELLO\r\n\r\n', 400],
  [
    'headers beyond the bound',
    `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
  ['a length and chunks at once', smuggled(), 400],
])('answers %s with the envelope, on the socket', async (_what, bytes, status) => {
  const text = await rawCall(api, bytes);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
  expect(head).toMatch(/\r\nX-RateLimit-Limit: 60\r\n/);
  expect(JSON.parse(body)).toEqual({
    error: { code: 'VALIDATION_ERROR', message: expect.any(String) },
  });
});

test('answers 500 in the envelope without the reason', async () => {
  const broken = await fixture.start({
    flows: {
      ...fixture.stores.flows,
      find: () => Promise.reject(new Error('secret detail')),
      listByProject: () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })),
    },
  });
  const answer = await caller(broken, tenant.key)(runs, { body: {} }); // reads the flow's prompt
  expectError(answer, 500, 'INTERNAL_ERROR');
  expect(answer.text).not.toContain('secret');
  expect(broken.log()).toContain('secret detail');
  expectError(await caller(broken, tenant.key)('/api/v1/flows'), 503, 'UPSTREAM_UNAVAILABLE');
});

function numbered(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
}

function smuggled(): string {
  const head =
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n';
  return `${head}0\r\n\r\n`;
}
