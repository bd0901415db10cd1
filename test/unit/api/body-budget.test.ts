import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../api/app-types.ts';
import { installBodyBudget } from '../../../api/http/bodies/body-budget.ts';
import { sendError } from '../../../api/http/error-handlers.ts';
import { limits } from '../../../core/limits.ts';

const largeBytes = 2 * limits.http.smallBodyMaxBytes;

/** Notes the handled requests. */
async function listen(handled: string[]) {
  const app: App = Fastify({ bodyLimit: largeBytes });
  onTestFinished(() => app.close());
  app.setErrorHandler(sendError);
  app.decorateRequest('caller', null);
  installBodyBudget(app, { maxBytes: largeBytes, ownerMaxBytes: largeBytes, waitMs: 300 });
  app.addHook('preHandler', async ({ url }) => void handled.push(url));
  app.post('/', async () => ({ data: 1 }));
  app.post('/wait', async (request, { raw }) => {
    request.releaseBody?.();
    await once(raw, 'close');
  });
  await app.listen({ port: 0 });
  return app;
}

const portOf = ({ server }: App) => (server.address() as AddressInfo).port; // listening on TCP

const bodyOf = (bytes: number) => `[${' '.repeat(bytes - 2)}]`;

const startServer = async () => poster(await listen([]));

function poster(app: App) {
  const port = portOf(app);
  return (bytes: number, { isChunked = false, path = '/' } = {}) => {
    const received = once(app.server, 'request');
    const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes };
    const given = { 'content-type': 'application/json', ...length };
    const sent = httpRequest({ port, path, method: 'POST', headers: given });
    onTestFinished(() => void sent.destroy());
    sent.on('error', () => undefined).flushHeaders();
    const answer = () => answerOf(sent);
    return { sent, received, answer, finish: () => sent.end(bodyOf(bytes)) };
  };
}

test('answers 503 to a large body over the budget, and serves a small one', async () => {
  const post = await startServer();
  const first = post(largeBytes);
  await first.received;
  first.sent.write('[');
  const second = post(largeBytes);
  const small = post(2);
  small.finish();
  const [served, refused] = await Promise.all([small.answer(), second.answer()]);
  expect(served).toMatchObject({ status: 200 });
  expect(refused).toMatchObject({
    status: 503,
    retryAfter: '2',
    body: expect.stringContaining('UPSTREAM_UNAVAILABLE'),
  });
});

test('counts a body of unknown length as the largest', async () => {
  const post = await startServer();
  const first = post(2, { isChunked: true });
  await first.received;
  const second = post(largeBytes);
  expect(await second.answer()).toMatchObject({ status: 503 });
});

test.each(['/', '/wait'])(
  'serves a waiting request when %s needs its body no more',
  async (path) => {
    const post = await startServer();
    const first = post(largeBytes, { path });
    await first.received;
    const second = post(largeBytes);
    second.finish();
    first.finish();
    expect(await second.answer()).toMatchObject({ status: 200 });
  },
);

test('serves a waiting request when the client before it disconnects', async () => {
  const post = await startServer();
  const first = post(largeBytes);
  await first.received;
  const second = post(largeBytes);
  second.finish();
  first.sent.destroy();
  expect(await second.answer()).toMatchObject({ status: 200 });
});

test('serves a waiting request when a client disconnects whose answers were still queued', async () => {
  const handled: string[] = [];
  const app = await listen(handled);
  const headers = `host: a\r\ncontent-type: application/json\r\ncontent-length:`;
  const socket = connect(portOf(app)).on('error', () => undefined);
  socket.write(`POST /wait HTTP/1.1\r\n${headers} 2\r\n\r\n{}`);
  socket.write(`POST / HTTP/1.1\r\n${headers} ${largeBytes}\r\n\r\n${bodyOf(largeBytes)}`);
  await expect.poll(() => handled).toEqual(['/wait', '/']);
  socket.destroy();
  const next = poster(app)(largeBytes);
  next.finish();
  expect(await next.answer()).toMatchObject({ status: 200 });
});

async function answerOf(sent: ClientRequest) {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { statusCode: status, headers } = response;
  return { status, retryAfter: headers['retry-after'], body: await text(response) };
}
