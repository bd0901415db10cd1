import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFlowStore } from '../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { restartAfterFailpoint, restartWithFailpoint } from '../support/kill-process.ts';
import {
  type ReceivedPost,
  startReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';

let fixture: FaultFixture;
let redirectTarget: WebhookReceiver;
let untrusted: { url: string; server: Server; connections(): number; requests(): number };
/** Its runs end without a container: there is no such image. */
let flowWithoutImage: string;

beforeAll(async () => {
  fixture = await startFaultFixture({
    env: { HOST_CAPACITY: '300' },
    behave: (response, { path }) => behaviours[path]?.(response),
  });
  [redirectTarget, untrusted] = await Promise.all([startReceiver(), startUntrusted()]);
  const { database, encryptionKey, projectId } = fixture.service;
  await database.pool.query('update projects set max_concurrent_runs = 1000');
  const flows = createFlowStore(database.pool, createSealer(encryptionKey));
  const flow = await flows.create({ projectId, name: 'Without image', image: 'nowhere:none' });
  flowWithoutImage = flow.flowId;
});
afterAll(async () => {
  untrusted?.server.close();
  await redirectTarget?.close();
  await fixture?.stop();
});

const slowMs = 8_000;
const delaysMs = [2_000, 10_000, 30_000];
const earlyMs = 100;
const lateMs = 5_000;
/** The most delay that many hanging receivers may cause for others. */
const delayMaxMs = 15_000;
const timeoutMs = 240_000;

/** The receiver's behavior by path. */
const behaviours: Record<string, (response: ServerResponse) => void> = {
  '/good': (response) => response.writeHead(204).end(),
  '/slow': (response) => void setTimeout(() => response.writeHead(200).end(), slowMs),
  '/500': (response) => response.writeHead(500).end('no'),
  '/redirect': (response) =>
    response.writeHead(307, { location: `${redirectTarget.url}/stolen` }).end(),
  '/cut': (response) => void response.socket?.destroy(),
  '/cut-in-the-middle': (response) => {
    response.writeHead(500, { 'content-length': '1000' }).write('the beginning of');
    setTimeout(() => response.socket?.destroy(), 500);
  },
  '/hang': () => undefined,
  '/second-time': failingOnce(),
};

function failingOnce(): (response: ServerResponse) => void {
  let count = 0;
  return (response) => {
    count += 1;
    response.writeHead(count === 1 ? 503 : 201).end();
  };
}

interface Attempt {
  status: number | null;
  error: string | null;
  started: Date;
  finished: Date;
}

async function attemptsOf(runId: string): Promise<Attempt[]> {
  const { rows } = await fixture.service.database.pool.query<Attempt>(
    `select status, error, started_at as started, finished_at as finished
     from webhook_attempts where run_id = $1 order by attempt`,
    [runId],
  );
  return rows;
}

/** A run that ends at once, and the outcome of its webhook. */
async function sendWebhook(callbackUrl: string, { isWebhookRejected = false } = {}) {
  const runId = await triggerFailing(callbackUrl);
  const { run, posts } = await fixture.expectInvariants(runId, {
    withinMs: timeoutMs,
    isWebhookRejected,
  });
  return { runId, posts, webhook: run.webhook, attempts: await attemptsOf(runId) };
}

async function triggerFailing(callbackUrl: string): Promise<string> {
  const path = `/flows/${flowWithoutImage}/runs`;
  const body = { prompt: 'x', callbackUrl };
  const { data } = await fixture.service.call<{ runId: string }>('POST', path, { body });
  return data.runId;
}

/**
 * From the end of one attempt to the next by the service's clock, and from one post to the next by
 * the receiver's: not early, and not much later even on a busy machine.
 */
function expectDelays(attempts: Attempt[], posts: ReceivedPost[] = []): void {
  for (const [index, delayMs] of delaysMs.entries()) {
    const [before, after] = [attempts[index], attempts[index + 1]];
    expectWaited((after?.started.getTime() ?? 0) - (before?.finished.getTime() ?? 0), delayMs);
    const [one, next] = [posts[index], posts[index + 1]];
    if (one === undefined || next === undefined) continue;
    const tookMs = (before?.finished.getTime() ?? 0) - (before?.started.getTime() ?? 0);
    expectWaited(next.at - one.at, delayMs, tookMs);
  }
}

function expectWaited(waitedMs: number, delayMs: number, moreMs = 0): void {
  expect(waitedMs).toBeGreaterThanOrEqual(delayMs - earlyMs);
  expect(waitedMs).toBeLessThan(delayMs + moreMs + lateMs);
}

describe('the webhook of a run', () => {
  it('is sent once if the receiver is slow', async () => {
    const { posts, webhook } = await sendWebhook(`${fixture.receiver.url}/slow`);
    expect(posts).toHaveLength(1);
    expect(webhook).toMatchObject({ state: 'delivered', attempts: 1, lastStatus: 200 });
  });

  it('is sent twice with identical bytes if the receiver fails once', async () => {
    const { posts, webhook } = await sendWebhook(`${fixture.receiver.url}/second-time`);
    expect(posts).toHaveLength(2);
    expect(posts[0]?.body).toBe(posts[1]?.body);
    expect(webhook).toMatchObject({ state: 'delivered', attempts: 2, lastStatus: 201 });
  });

  const failures = [
    { path: '/500', status: 500, error: null },
    { path: '/redirect', status: 307, error: null },
    { path: '/cut', status: null, error: 'not_connected' },
    { path: '/cut-in-the-middle', status: 500, error: null },
    { path: '/hang', status: null, error: 'timed_out' },
  ];
  it.concurrent.each(failures)(
    'is sent four times, after 2, 10 and 30 seconds, if no attempt succeeds ($path)',
    async ({ path, status, error }) => {
      const url = `${fixture.receiver.url}${path}`;
      const { posts, webhook, attempts } = await sendWebhook(url, { isWebhookRejected: true });
      expect(posts).toHaveLength(4);
      expect(webhook).toMatchObject({ state: 'dropped', attempts: 4, lastStatus: status });
      expect(attempts.map((attempt) => attempt.error)).toEqual([error, error, error, error]);
      expectDelays(attempts, posts);
      expect(redirectTarget.posts).toEqual([]);
    },
  );

  it('sends no byte to a receiver with an untrusted certificate', async () => {
    const { webhook, attempts } = await sendWebhook(untrusted.url, { isWebhookRejected: true });
    expect(webhook).toMatchObject({ state: 'dropped', attempts: 4, lastStatus: null });
    expect(untrusted.connections()).toBe(4);
    expect(untrusted.requests()).toBe(0);
    expectDelays(attempts);
  });

  it.each([
    ['webhook.claimed', 3],
    ['webhook.sent', 4],
  ] as const)(
    'has no fifth post if no attempt succeeds and the worker dies at %s',
    async (name, count) => {
      const { worker } = fixture.service;
      await restartWithFailpoint(worker, name);
      const runId = await triggerFailing(`${fixture.receiver.url}/500`);
      await restartAfterFailpoint(worker);
      const options = { withinMs: timeoutMs, isWebhookRejected: true };
      const { posts, attempts } = await fixture.expectInvariants(runId, options);
      expect(posts).toHaveLength(count);
      expect(attempts.map(({ status }) => status)).toEqual([null, 500, 500, 500]);
    },
  );
});

it('delays no run, and other webhooks only briefly, if a receiver hangs', async () => {
  const hanging = await Promise.all(
    Array.from({ length: 120 }, () => triggerFailing(`${fixture.receiver.url}/hang`)),
  );
  // Runs in progress would delay the next one as well.
  await expect.poll(countRunsInProgress, { timeout: timeoutMs }).toBe(0);

  const { runId } = await fixture.service.trigger({
    prompt: 'nothing but an echo',
    callbackUrl: `${fixture.receiver.url}/good`,
  });
  const ended = await fixture.service.untilEnded(runId, timeoutMs);
  const { posts } = await fixture.expectInvariants(runId);
  expect(posts).toHaveLength(1);
  const [attempt] = await attemptsOf(runId);
  const endedAt = Date.parse(ended.finishedAt ?? '');
  expect(endedAt - Date.parse(ended.createdAt)).toBeLessThan(delayMaxMs);
  expect((attempt?.started.getTime() ?? 0) - endedAt).toBeLessThan(delayMaxMs);

  const options = { withinMs: timeoutMs, isWebhookRejected: true };
  for (const one of hanging) await fixture.expectInvariants(one, options);
});

async function countRunsInProgress(): Promise<number> {
  const text = 'select count(*)::integer from runs where ended_at is null';
  const { rows } = await fixture.service.database.pool.query<{ count: number }>(text);
  return rows[0]?.count ?? 0;
}

/** Serves TLS with a self-signed certificate. */
async function startUntrusted() {
  const folder = mkdtempSync(join(tmpdir(), 'untrusted-'));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const opensslArgs = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const output = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...opensslArgs, ...names, ...output], {
    stdio: 'ignore',
  });
  const server = createServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (_request, response) => response.writeHead(204).end(),
  );
  rmSync(folder, { recursive: true });
  let connections = 0;
  let requests = 0;
  server.on('connection', () => (connections += 1)).on('request', () => (requests += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/hook`,
    server,
    connections: () => connections,
    requests: () => requests,
  };
}
