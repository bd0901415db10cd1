// Requests that a faulty client might send. Each is interpreted as declared, or rejected, and never
// misinterpreted.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { rawCall } from './raw-call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();

const runs = () => `/api/v1/flows/${tenant.flowId}/runs`;
const body = { prompt: 'Go' };
const withKey = (key = tenant.key) => `authorization: Bearer ${key}\r\n`;

test.each([
  ['compressed', { 'content-encoding': 'gzip' }],
  ['twice encoded', { 'content-encoding': 'identity, br' }],
  ['in another charset', { 'content-type': 'application/json; charset=utf-16' }],
  ['in a quoted one', { 'content-type': 'application/json;charset="ISO-8859-1"' }],
])('rejects a body declared as %s', async (_what, headers) => {
  const answer = await call(runs(), { body, headers });
  expect([answer.status, answer.json.error.code]).toEqual([415, 'VALIDATION_ERROR']);
});

test('rejects compressed bodies, declared in either header', async () => {
  const compressed = gzipSync(JSON.stringify(body));
  const answer = await fetch(`${api.url}${runs()}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant.key}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    body: compressed,
  });
  expect(answer.status).toBe(415);
  const text = await rawCall(api, `${post()}transfer-encoding: gzip, chunked\r\n\r\n${chunk}`);
  expect(text).toMatch(/^HTTP\/1.1 415 /);
});

test.each([
  { 'content-encoding': 'identity' },
  { 'content-type': 'application/json; charset=UTF-8' },
  { 'content-type': 'APPLICATION/JSON;charset="utf8"' },
  { 'content-type': 'application/json; charset=us-ascii' },
])('accepts a plain JSON body declared as %j', async (headers) => {
  expect((await call(runs(), { body, headers })).status).toBe(201);
});

test('rejects null as a body', async () => {
  const answer = await call(runs(), { body: 'null' });
  expect([answer.status, answer.json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
});

test('rejects a body that is nested too deeply, or has too many values', async () => {
  const { depthMax, valuesMax } = limits.http.json;
  const deep = '['.repeat(limits.http.largeBodyMaxBytes);
  const long = `{"prompt":"Go","labels":[${'0,'.repeat(valuesMax)}0]}`;
  for (const text of [deep, long]) {
    const { status, json } = await call(runs(), { body: text });
    expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(json.error.message).toContain(`${depthMax} levels`);
  }
});

test.each([
  ['a run', () => runs(), limits.http.largeBodyMaxBytes],
  ['a session', () => `/api/v1/flows/${tenant.flowId}/sessions`, limits.http.mediumBodyMaxBytes],
  ['a stop', () => `/api/v1/runs/${randomUUID()}/stop`, limits.http.smallBodyMaxBytes],
])('answers 413 to %s with a body over its limit', async (_what, path, maxBytes) => {
  const atLimit = await call(path(), { body: `${' '.repeat(maxBytes - 2)}[]` });
  expect(atLimit.status).toBe(400);
  const over = await call(path(), { body: `${' '.repeat(maxBytes - 1)}[]` });
  expect([over.status, over.json.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
});

test('rejects two different keys in either order', async () => {
  const other = await fixture.tenant();
  const get = (...keys: string[]) =>
    rawCall(
      api,
      `GET /api/v1/flows HTTP/1.1\r\nhost: a\r\n${close}${keys.map(withKey).join('')}\r\n`,
    );
  expect(await get(tenant.key, other.key)).toMatch(/^HTTP\/1.1 401 /);
  expect(await get(other.key, tenant.key)).toMatch(/^HTTP\/1.1 401 /);
  expect(await get(tenant.key, tenant.key)).toMatch(/^HTTP\/1.1 200 /);
});

test('reads the last of very many headers', async () => {
  const many = 'a:\r\n'.repeat(2_100);
  const text = await rawCall(
    api,
    `GET /api/v1/flows HTTP/1.1\r\nhost: a\r\n${close}${many}${withKey()}\r\n`,
  );
  expect(text).toMatch(/^HTTP\/1.1 200 /);
});

test('answers CONNECT in the envelope', async () => {
  const text = await rawCall(
    api,
    `CONNECT a.test:443 HTTP/1.1\r\nhost: a.test\r\n${withKey()}\r\n`,
  );
  expect(text).toMatch(/^HTTP\/1.1 405 Method Not Allowed\r\n/);
  expect(text).toMatch(/\r\nX-RateLimit-Limit: 60\r\n/);
  expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toHaveProperty(
    'error.code',
    'METHOD_NOT_ALLOWED',
  );
});

test('starts nothing for an aborted body, and logs it once without an error', async () => {
  const own = await fixture.start();
  const before = fixture.asked.started.length;
  const unfinished = [
    `content-length: 100\r\n\r\n{"prompt":"Go"`,
    `transfer-encoding: chunked\r\n\r\n${chunk.slice(0, -5)}`,
  ];
  const broken = 'transfer-encoding: chunked\r\n\r\n5\r\n{"pro\r\nzzz\r\n';
  const answers = [
    ...(await Promise.all(unfinished.map((part) => breakOff(own, part, 'destroy')))),
    ...(await Promise.all(unfinished.map((part) => breakOff(own, part, 'end')))),
    await rawCall(own, `${post()}${broken}`),
  ];
  await own.close();
  expect(own.log()).not.toMatch(/request_failed|dependency_error/);
  expect(fixture.asked.started).toHaveLength(before);
  const lines = own
    .log()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line) as { requestId: string; code?: string; route: string });
  expect(lines).toHaveLength(answers.length);
  expect(new Set(lines.map(({ route }) => route))).toEqual(new Set([`/api/v1/flows/:flowId/runs`]));
  const answered = answers.slice(unfinished.length);
  for (const text of answered) {
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    const requestId = /\r\nx-request-id: (\S+)\r\n/i.exec(text)?.[1];
    const line = lines.find((each) => each.requestId === requestId);
    expect(line).toMatchObject({ code: 'VALIDATION_ERROR' });
  }
});

test('writes nothing into an answer that is being sent', async () => {
  const { runId } = (await call(runs(), { body })).json.data;
  const head = `GET /api/v1/runs/${runId}/stream HTTP/1.1\r\nhost: a\r\n${withKey()}\r\n`;
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (data) => {
      text += String(data);
    });
  const closed = once(socket, 'close');
  socket.write(head);
  await expect.poll(() => text).toContain('event: status');
  socket.write('GARBAGE\r\n\r\n');
  await closed;
  expect(text.match(/HTTP\/1.1 /g)).toHaveLength(1);
});

test('returns any valid label text, and finds the run by it', async () => {
  for (const value of ['a\0b', '\ud800', '😀"\\', ':', '%']) {
    const { json } = await call(runs(), { body: { ...body, labels: { odd: value } } });
    const run = await call(`/api/v1/runs/${json.data.runId}`);
    expect(run.json.data.labels).toEqual({ odd: value });
    if (value === '\ud800') continue; // not representable in a URL
    const found = await call(`/api/v1/runs?label=${encodeURIComponent(`odd:${value}`)}`);
    expect(found.json.data).toMatchObject([{ runId: json.data.runId }]);
  }
});

/** The answer, if any, to a request whose client disconnects in the middle. */
function breakOff(own: ApiProcess, part: string, how: 'end' | 'destroy'): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
    socket.write(`${post()}${part}`, () => setTimeout(() => socket[how](), 100));
    socket.on('data', (data) => {
      text += String(data);
    });
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

const close = 'connection: close\r\n';
const chunk = 'f\r\n{"prompt":"Go"}\r\n0\r\n\r\n';
const post = () =>
  `POST ${runs()} HTTP/1.1\r\nhost: a\r\n${close}${withKey()}content-type: application/json\r\n`;
