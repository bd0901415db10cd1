import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { createDeferred } from '../../../../lib/async/deferred.ts';
import { createInputQueue } from '../../../../worker/sandbox/input/input-queue.ts';
import { callSocket, openCall } from '../../../support/socket-client.ts';
import { serveRun } from './egress-fixture.ts';

const messages = (after: number) => ({ path: `/control/messages?after=${after}` });
const bounds = limits.control;

/** A run whose prompt is 1 MiB of characters that JSON escapes twice: 7 MiB per answer. */
function serveLargePrompt() {
  const line = JSON.stringify({ text: '\u0001'.repeat(1024 * 1024) });
  const input = createInputQueue({ line, id: 'prompt' });
  return serveRun({ handlers: { nextMessage: input.next } });
}

test('connections that read nothing cost the memory of one answer', async () => {
  const { socketPath } = await serveLargePrompt();
  const before = process.memoryUsage.rss();
  const statuses: number[] = [];
  for (let sent = 0; sent < 90; sent += 1) {
    const response = await openCall(socketPath, messages(0));
    response.on('error', () => undefined); // closed after the test
    statuses.push(response.statusCode ?? 0);
    if (response.statusCode === 503) response.resume();
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 503)).toHaveLength(89);
  expect(process.memoryUsage.rss() - before).toBeLessThan(256 * 1024 * 1024);
});

test('an answer larger than the bound is delivered, as often as it is read', async () => {
  const { socketPath } = await serveLargePrompt();
  for (let n = 0; n < 3; n += 1) {
    expect(await callSocket(socketPath, messages(0))).toMatchObject({ status: 200 });
  }
});

test.each([
  ['delivers answers that are unread up to the bound', 0, 200],
  ['refuses the answer that exceeds it by one byte', 1, 503],
])('%s', async (_what, beyond, status) => {
  let line = '';
  const nextMessage = async () => ({ kind: 'message', index: 1, line }) as const;
  const { socketPath } = await serveRun({ handlers: { nextMessage } });
  const around = (await callSocket(socketPath, messages(0))).body.length;
  const half = bounds.unreadMaxBytes / 2;
  const statuses: unknown[] = [];
  for (const bytes of [half, half + beyond]) {
    line = 'x'.repeat(bytes - around);
    const response = await openCall(socketPath, messages(0));
    response.on('error', () => undefined); // closed after the test
    statuses.push(response.statusCode);
  }
  expect(statuses).toEqual([200, status]);
});

test('closes a connection that does not read its answer in time, then answers again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { socketPath } = await serveLargePrompt();
  const unread = await openCall(socketPath, messages(0));
  const failed = new Promise((resolve) => unread.once('error', resolve));
  expect((await callSocket(socketPath, messages(0))).status).toBe(503);
  vi.advanceTimersByTime(bounds.readTimeoutMs);
  unread.resume();
  expect(await failed).toMatchObject({ code: 'ECONNRESET' });
  expect((await callSocket(socketPath, messages(0))).status).toBe(200);
});

test('long answers are encoded with pauses, so that other sandboxes are served', async () => {
  const { socketPath } = await serveLargePrompt();
  const encodings = recordEncodings();
  for (let sent = 0; encodings.length < 10 && sent < 90; sent += 1) {
    const response = await openCall(socketPath, messages(0));
    response.destroy();
  }
  expect(encodings).toHaveLength(10);
  for (const [index, { from }] of encodings.entries()) {
    const previous = encodings[index - 1];
    if (previous === undefined) continue;
    const tookMs = previous.to - previous.from;
    // Timers count whole milliseconds from a rounded start, so one may fire almost two early.
    expect(from - previous.to).toBeGreaterThanOrEqual(3 * tookMs - 2);
  }
});

/** When each long answer was encoded. */
function recordEncodings(): { from: number; to: number }[] {
  const encodings: { from: number; to: number }[] = [];
  const { stringify } = JSON;
  const encode = (value: unknown): string => {
    const from = performance.now();
    const text = stringify(value);
    if (text.length > 1024 * 1024) encodings.push({ from, to: performance.now() });
    return text;
  };
  const spy = vi.spyOn(JSON, 'stringify').mockImplementation(encode);
  onTestFinished(() => spy.mockRestore());
  return encodings;
}

test('a long poll ends the previous one', async () => {
  const input = createInputQueue(null);
  const { socketPath } = await serveRun({ handlers: { nextMessage: input.next } });
  const first = callSocket(socketPath, messages(0));
  await sleep(50);
  const second = callSocket(socketPath, messages(0));
  expect((await first).status).toBe(204);
  input.push('line');
  expect(await second).toMatchObject({ status: 200 });
});

test('refuses requests beyond the burst, counts them, and another sandbox is not affected', async () => {
  const refused: string[] = [];
  const run = await serveRun({ deps: { onControlRefused: (reason) => refused.push(reason) } });
  const neighbour = await serveRun({ sameHostAs: run });
  const statuses: number[] = [];
  for (let sent = 0; sent < bounds.burst * 2; sent += 1) {
    statuses.push((await callSocket(run.socketPath, { path: '/control/config' })).status);
  }
  expect(statuses.slice(0, bounds.burst)).toEqual(Array(bounds.burst).fill(410));
  const rejected = statuses.filter((status) => status === 429);
  expect(rejected.length).toBeGreaterThan(0);
  expect(refused).toEqual(rejected.map(() => 'rate'));
  const other = await callSocket(neighbour.socketPath, { path: '/control/config' });
  expect(other.status).toBe(410);
  await expect
    .poll(async () => (await callSocket(run.socketPath, { path: '/control/config' })).status)
    .toBe(410);
});

test('refuses more requests at a time than its bound', async () => {
  const answered = createDeferred<true>();
  let calls = 0;
  const config = () => {
    calls += 1;
    return answered.promise.then(() => null);
  };
  const { socketPath } = await serveRun({ handlers: { config } });
  const call = () => callSocket(socketPath, { path: '/control/config' });
  const held = Array.from({ length: bounds.requestsMax }, call);
  await expect.poll(() => calls).toBe(bounds.requestsMax);
  expect((await call()).status).toBe(503);
  answered.resolve(true);
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual(held.map(() => 410));
  expect((await call()).status).toBe(410);
});
