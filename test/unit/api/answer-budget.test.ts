import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../api/app-types.ts';
import { installAnswerBudget } from '../../../api/http/bodies/answer-budget.ts';
import { sendError } from '../../../api/http/error-handlers.ts';
import { installWriteDeadline } from '../../../api/http/write-deadline.ts';
import { limits } from '../../../core/limits.ts';

const large = 'x'.repeat(2 * 1024 ** 2);
const small = 'x'.repeat(limits.http.smallAnswerMaxBytes);
const bounds = {
  maxBytes: large.length,
  ownerMaxBytes: large.length,
  waitersMaxBytes: large.length,
  waitMs: 3_000,
};

async function startServer() {
  const handled: string[] = [];
  const made: string[] = [];
  const app: App = Fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  app.setErrorHandler(sendError);
  app.decorateRequest('caller', null);
  app.decorateRequest('errorCode', null);
  installAnswerBudget(app, bounds);
  installWriteDeadline(app);
  app.addHook('preHandler', async ({ url }) => void handled.push(url));
  app.get('/large', async (_request, reply) => reply.header('etag', '"1"').send(large));
  app.post('/large', async () => large);
  app.get('/small', async () => small);
  const config = { answerMaxBytes: large.length };
  app.get('/page', { config }, async () => (made.push('page'), large));
  app.get('/small-page', { config }, async () => small);
  app.get('/document', (_request, reply) => reply.send(Buffer.from(large)));
  app.get('/file', (_request, reply) => reply.send(Readable.from([Buffer.from(large)])));
  app.get('/small-file', (_request, reply) =>
    reply.header('content-length', small.length).send(Readable.from([Buffer.from(small)])),
  );
  app.get('/list', async (request, reply) => {
    request.handlerBytes = large.length;
    return reply.header('content-length', 1).send(Readable.from([Buffer.from('x')]));
  });
  app.get('/never', (_request, { raw }) => once(raw, 'close'));
  const folder = mkdtempSync(join(tmpdir(), 'answer-budget-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Its buffer is small: that of TCP can hold a whole answer.
  const socketPath = join(folder, 'socket');
  await app.listen({ path: socketPath });
  /** The head of an answer, which is not read until the caller reads it. */
  const ask = async (path: string, method = 'GET'): Promise<IncomingMessage> => {
    const sent = httpRequest({ socketPath, path, method, agent: false });
    sent.on('error', () => undefined).end();
    const [response] = await once(sent, 'response');
    return response;
  };
  return { socketPath, handled, made, ask };
}

test.each(['/large', '/file', '/list'])('answers 503 to %s over the budget', async (path) => {
  const { ask } = await startServer();
  await ask('/large');
  const refused = await ask(path);
  expect(refused.statusCode).toBe(503);
  expect(refused.headers).toMatchObject({ 'retry-after': '2' });
  expect(refused.headers).not.toHaveProperty('etag');
  expect(JSON.parse(await text(refused))).toHaveProperty('error.code', 'UPSTREAM_UNAVAILABLE');
});

test('lets neither small answers, shared documents nor reports of a change wait', async () => {
  const { ask } = await startServer();
  await ask('/large');
  for (const path of ['/small', '/small-file', '/document']) {
    expect((await ask(path)).statusCode).toBe(200);
  }
  expect((await ask('/large', 'POST')).statusCode).toBe(200);
});

test.each(['resume', 'destroy'] as const)(
  'serves a waiting answer whole when the client before it calls %s',
  async (end) => {
    const { ask } = await startServer();
    const first = await ask('/large');
    const second = ask('/large');
    first.on('error', () => undefined)[end]();
    expect(await text(await second)).toBe(large);
  },
);

test('serves a waiting answer when a client disconnects whose answers were still queued', async () => {
  const { ask, handled, socketPath } = await startServer();
  const socket = connect(socketPath).on('error', () => undefined);
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
  socket.write(request('/never') + request('/large'));
  await expect.poll(() => handled).toEqual(['/never', '/large']);
  socket.destroy();
  expect((await ask('/large')).statusCode).toBe(200);
});

test('reads nothing for a page that waits for memory, however many wait', async () => {
  const { ask, made } = await startServer();
  const first = await ask('/page');
  const refused = await Promise.all(Array.from({ length: 20 }, () => ask('/page')));
  expect(refused.map(({ statusCode }) => statusCode)).toEqual(refused.map(() => 503));
  expect(made).toHaveLength(1);
  const next = ask('/page');
  expect(await text(first)).toBe(large);
  expect(await text(await next)).toBe(large);
  expect(made).toHaveLength(2);
});

test('returns the memory of a page when it was read, also of a small one', async () => {
  const { ask } = await startServer();
  for (let n = 0; n < 5; n += 1) expect(await text(await ask('/small-page'))).toBe(small);
  expect((await ask('/page')).statusCode).toBe(200);
});
