import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { childRunLimits } from '../../../../core/runs/child-runs.ts';
import { callSocket, openCall } from '../../../support/socket-client.ts';
import { serveRun } from './egress-fixture.ts';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An API that ends the first connections without an answer. */
async function startApi({ failures = 0, text: answered = '{"answer":1}' } = {}) {
  const received: Received[] = [];
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    received.push({ path: request.url ?? '', headers: request.headers, body });
    if (received.length <= failures) return void request.socket.destroy();
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b' });
    response.end(answered);
  }
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // listening on TCP
  return { url: `http://127.0.0.1:${port}/base`, received };
}

const post = { method: 'POST', path: '/mcp', body: '{"id":1}' };

test('adds the token of the run and forwards no other header of the sandbox', async () => {
  const api = await startApi();
  const run = await serveRun({ deps: { apiUrl: api.url }, handlers: { agentToken: 'fra_own' } });
  const headers = {
    authorization: 'Bearer own',
    cookie: 'c',
    'mcp-protocol-version': '2025-06-18',
  };
  const answer = await callSocket(run.socketPath, { ...post, headers });
  expect([answer.status, answer.body]).toEqual([200, '{"answer":1}']);
  expect(answer.headers['set-cookie']).toBeUndefined();
  const [{ path, headers: sent, body }] = api.received as [Received];
  expect([path, body]).toEqual(['/base/api/v1/mcp', post.body]);
  expect(sent).toMatchObject({
    authorization: 'Bearer fra_own',
    'mcp-protocol-version': '2025-06-18',
  });
  expect(sent.cookie).toBeUndefined();
});

test('repeats a call whose connection is lost, under the same ID', async () => {
  const api = await startApi({ failures: 2 });
  const run = await serveRun({ deps: { apiUrl: api.url }, handlers: { agentToken: 'fra_own' } });
  expect((await callSocket(run.socketPath, post)).status).toBe(200);
  expect((await callSocket(run.socketPath, post)).status).toBe(200);
  const ids = api.received.map(({ headers }) => headers['idempotency-key']);
  expect(ids).toHaveLength(4);
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(ids[3]).not.toBe(ids[0]);
});

test('has no tools for a run whose flow permits no child runs', async () => {
  const api = await startApi();
  const run = await serveRun({ deps: { apiUrl: api.url }, handlers: { agentToken: null } });
  expect((await callSocket(run.socketPath, post)).status).toBe(404);
  expect(api.received).toEqual([]);
});

test('accepts only a POST whose body is not too long', async () => {
  const api = await startApi();
  const run = await serveRun({ deps: { apiUrl: api.url }, handlers: { agentToken: 'fra_own' } });
  expect((await callSocket(run.socketPath, { path: '/mcp' })).status).toBe(405);
  const longest = 'x'.repeat(childRunLimits.callMaxBytes);
  expect((await callSocket(run.socketPath, { ...post, body: longest })).status).toBe(200);
  expect((await callSocket(run.socketPath, { ...post, body: `${longest}x` })).status).toBe(413);
  expect(api.received).toHaveLength(1);
});

test('a sandbox that does not read its answers gets no further ones', async () => {
  const api = await startApi({ text: 'x'.repeat(4 * 1024 ** 2) });
  const run = await serveRun({ deps: { apiUrl: api.url }, handlers: { agentToken: 'fra_own' } });
  const unread = await Promise.all(
    Array.from({ length: childRunLimits.concurrentCallsMax }, () => openCall(run.socketPath, post)),
  );
  expect((await callSocket(run.socketPath, post)).status).toBe(503);
  expect(api.received).toHaveLength(unread.length);
  for (const answer of unread) answer.destroy();
  await expect.poll(async () => (await callSocket(run.socketPath, post)).status).toBe(200);
});

test('a sandbox that calls without end is refused by its host', async () => {
  const run = await serveRun({ handlers: { agentToken: 'fra_own' } });
  const counts = { 405: 0, 429: 0 };
  while (counts[429] === 0) {
    const calls = Array.from({ length: 20 }, () => callSocket(run.socketPath, { path: '/mcp' }));
    for (const { status, headers } of await Promise.all(calls)) {
      counts[status as keyof typeof counts] += 1;
      if (status === 429) expect(headers['retry-after']).toBe('1');
    }
  }
  expect(counts[405]).toBeGreaterThanOrEqual(childRunLimits.ratePerMinute);
});
