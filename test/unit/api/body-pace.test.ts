import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../api/app-types.ts';
import { unauthorized } from '../../../api/errors.ts';
import { installBodyBudget } from '../../../api/http/bodies/body-budget.ts';
import { installBodyPace } from '../../../api/http/bodies/body-pace.ts';
import { sendError } from '../../../api/http/error-handlers.ts';
import {
  createParserErrorHandler,
  type InFlightRequest,
  trackInFlightRequests,
} from '../../../api/http/parser-errors.ts';
import { noopMetrics } from '../../../api/metrics.ts';
import { limits } from '../../../core/limits.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';

const pace = { checkMs: 50, stallMs: 600, graceMs: 600, minBytesPerSecond: 50_000 };
const largeBytes = 150_000;

async function startServer() {
  const inFlight = new WeakMap<Socket, InFlightRequest>();
  const app: App = Fastify({
    bodyLimit: largeBytes,
    clientErrorHandler: (error, socket) => handle(error, socket),
  });
  const ids = { newId: () => 'request', now: () => new Date() };
  const handle = createParserErrorHandler({
    ...ids,
    logger: app.log,
    metrics: noopMetrics,
    inFlight,
  });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    return app.close();
  });
  app.decorateRequest('caller', null);
  app.decorateRequest('errorCode', null);
  app.setErrorHandler(sendError);
  trackInFlightRequests(app, inFlight);
  installBodyBudget(app, { maxBytes: largeBytes, ownerMaxBytes: largeBytes, waitMs: 5_000 });
  installBodyPace(app, pace);
  const handled: string[] = [];
  const released = createDeferred<true>();
  app.addHook('onRequest', async ({ url }) => {
    if (url === '/denied') throw unauthorized();
  });
  app.post('/*', async ({ url }) => {
    handled.push(url);
    if (url === '/hold') await released.promise;
    return 'done';
  });
  await app.listen({ port: 0 });
  const { port } = app.server.address() as AddressInfo; // listening on TCP
  const connections = () =>
    new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
  const open = (path: string) => {
    const opened = post(port, path);
    sockets.push(opened.socket);
    return opened;
  };
  return { handled, release: () => released.resolve(true), connections, post: open };
}

/** Sends the head of a request whose body has `largeBytes`. */
function post(port: number, path: string) {
  const socket = connect({ port, allowHalfOpen: true });
  let answer = '';
  socket.on('error', () => undefined).on('data', (part) => (answer += String(part)));
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${largeBytes}\r\n\r\n`);
  const hasAnswer = (status: number) =>
    expect.poll(() => answer, { timeout: 10_000, interval: 10 }).toMatch(`HTTP/1.1 ${status} `);
  return { socket, hasAnswer, answer: () => answer };
}

const body = `[${' '.repeat(largeBytes - 2)}]`;

/** Catches up on a busy machine, so that the rate is the same. */
async function sendAtRate(socket: Socket, bytesPerSecond: number): Promise<void> {
  const began = performance.now();
  let sent = 0;
  while (sent < body.length && !socket.destroyed) {
    await sleep(20);
    const due = Math.floor(((performance.now() - began) / 1_000) * bytesPerSecond);
    if (due > sent) socket.write(body.slice(sent, due));
    sent = Math.max(sent, due);
  }
}

test('rejects a body that stalls, and starts nothing with its rest', async () => {
  const { post: send, handled, connections } = await startServer();
  const began = performance.now();
  const { socket, hasAnswer, answer } = send('/');
  socket.write(body.slice(0, 10));
  await hasAnswer(408);
  expect(performance.now() - began).toBeGreaterThan(pace.stallMs - pace.checkMs);
  expect(JSON.parse(answer().split('\r\n\r\n')[1] ?? '')).toHaveProperty(
    'error.code',
    'VALIDATION_ERROR',
  );
  socket.write(body.slice(10));
  await expect.poll(connections).toBe(0);
  expect(handled).toEqual([]);
});

test('accepts a body above the minimum rate, however long it takes', async () => {
  const { post: send, handled } = await startServer();
  const began = performance.now();
  const { socket, hasAnswer } = send('/');
  await Promise.all([sendAtRate(socket, 1.2 * pace.minBytesPerSecond), hasAnswer(200)]);
  expect(performance.now() - began).toBeGreaterThan(2 * pace.graceMs);
  expect(handled).toEqual(['/']);
});

test('rejects a body below the minimum rate that never stalls', async () => {
  const { post: send, handled } = await startServer();
  const { socket, hasAnswer } = send('/');
  // A busy machine delays the checks but not the bytes, so the rate is far below.
  void sendAtRate(socket, 0.1 * pace.minBytesPerSecond);
  await hasAnswer(408);
  expect(handled).toEqual([]);
});

test('does not count the time in which a body waits for memory', async () => {
  const { post: send, handled, release } = await startServer();
  const first = send('/hold');
  first.socket.write(body);
  await expect.poll(() => handled).toEqual(['/hold']);
  const second = send('/');
  await sleep(2 * pace.stallMs);
  expect(second.answer()).toBe('');
  release();
  await first.hasAnswer(200);
  second.socket.write(body);
  await second.hasAnswer(200);
});

test('disconnects a client that was answered and does not finish its body', async () => {
  const { post: send, connections } = await startServer();
  const { socket, hasAnswer, answer } = send('/denied');
  await hasAnswer(401);
  void sendAtRate(socket, 0.1 * pace.minBytesPerSecond);
  await expect.poll(connections).toBe(0);
  expect(answer().match(/HTTP\/1.1 /g)).toHaveLength(1);
});

test('leaves time for the largest body at 1 Mbit/s, and for the slowest that is accepted', () => {
  const {
    bodyPace: allowed,
    bodyBudget: memory,
    largeBodyMaxBytes,
    requestTimeoutMs,
  } = limits.http;
  const usableShare = 0.9; // the rest is headers of packets
  expect(allowed.minBytesPerSecond).toBeLessThan((usableShare * 1_000_000) / 8);
  const slowestMs = allowed.graceMs + (largeBodyMaxBytes / allowed.minBytesPerSecond) * 1_000;
  expect(memory.waitMs + slowestMs).toBeLessThan(requestTimeoutMs);
});
