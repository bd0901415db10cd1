import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../api/app-types.ts';
import { onResponseClose } from '../../../api/http/on-response-close.ts';
import { installRequestLog } from '../../../api/http/request-log.ts';
import { installRequestMetrics } from '../../../api/http/request-metrics.ts';
import { type ApiMetrics, noopMetrics } from '../../../api/metrics.ts';
import { createLogger } from '../../../config/logger.ts';

type Counted = Parameters<ApiMetrics['answered']>[0];

async function startServer(note?: () => never) {
  const lines: Record<string, unknown>[] = [];
  const counted: Counted[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    },
  });
  const logger: FastifyBaseLogger = createLogger({ level: 'info', name: 'test' }, destination);
  const logController = new LogController({ disableRequestLogging: true });
  const app: App = Fastify({ loggerInstance: logger, logController });
  if (note !== undefined) onResponseClose(app, note);
  installRequestLog(app);
  installRequestMetrics(app, { ...noopMetrics, answered: (request) => counted.push(request) });
  app.get('/now', async () => ({ data: 1 }));
  app.get('/probe/:status', { config: { isProbe: true } }, async ({ params }, reply) =>
    reply.code(Number((params as { status: string }).status)).send({ data: 1 }),
  );
  app.get('/never', () => new Promise(() => undefined));
  app.get('/stream', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  });
  await app.listen({ port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo; // listening on TCP
  const call = (path: string): ClientRequest => get({ port, path }).on('error', () => undefined);
  const logged = () => lines.filter(({ msg }) => msg === 'request');
  const errors = () => lines.filter(({ level }) => level === 'error');
  return { app, call, logged, errors, counted };
}

test('logs and counts an answered request once', async () => {
  const { call, logged, counted } = await startServer();
  const [answer] = (await once(call('/now'), 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
  await expect.poll(logged).toMatchObject([{ route: '/now', status: 200 }]);
  expect(logged()[0]).not.toHaveProperty('clientDisconnected');
  expect(counted).toMatchObject([{ route: '/now', status: 200 }]);
});

test('logs and counts a disconnected stream once', async () => {
  const { call, logged, counted } = await startServer();
  const request = call('/stream');
  await once(request, 'response');
  request.destroy();
  await expect
    .poll(logged)
    .toMatchObject([{ route: '/stream', status: 200, clientDisconnected: true }]);
  expect(counted).toMatchObject([{ route: '/stream', status: 200 }]);
});

test('logs, but does not count, a request that was aborted before its answer', async () => {
  const { app, call, logged, counted } = await startServer();
  const requested = once(app.server, 'request');
  const request = call('/never');
  await requested;
  request.destroy();
  await expect
    .poll(logged)
    .toMatchObject([{ route: '/never', status: null, clientDisconnected: true }]);
  expect(counted).toEqual([]);
});

test('logs a failing hook and runs the others', async () => {
  const { call, logged, errors } = await startServer(() => {
    throw new Error('not noted');
  });
  const [answer] = (await once(call('/now'), 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
  await expect.poll(logged).toMatchObject([{ route: '/now', status: 200 }]);
  expect(errors()).toMatchObject([{ msg: 'request_hook_failed', err: { message: 'not noted' } }]);
});

test('logs a successful probe only at debug', async () => {
  const { call, logged, counted } = await startServer();
  for (const path of ['/probe/200', '/probe/503', '/probe/404']) {
    const [answer] = (await once(call(path), 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
  }
  await expect.poll(logged).toMatchObject([{ status: 503 }, { status: 404 }]);
  expect(counted).toMatchObject([{ status: 200 }, { status: 503 }, { status: 404 }]);
});
