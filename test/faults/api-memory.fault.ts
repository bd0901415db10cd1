// The API under clients that never read and bodies of 40 MiB. A separate process on one processor
// sends both. Half of the clients ask for a log, and half for a stream with a long replay.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../core/limits.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { createFrameStore, type FrameStore } from '../../systems/postgres/log/frame-store.ts';
import { createFrameStream } from '../../systems/redis/frame-stream.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { scrape, valueOf } from '../support/metrics.ts';
import { measureSlowdown } from '../support/processor-wait.ts';
import { openRedis } from '../support/redis-fixture.ts';
import { createTenant, type Service, startService } from '../support/service.ts';

const miB = 1024 ** 2;
const memoryMaxBytes = 512 * miB;
const loopDelayMaxSeconds = 0.2;
const otherCallMaxMs = 1_000;
const readerCount = 100;
const bodyCount = 50;
const chatFrames = 100;

let service: Service;
let other: ApiClient;
let metricsPort: number;
let runId: string;

beforeAll(async () => {
  service = await startService();
  const { database, encryptionKey, url } = service;
  other = createApiClient({ url, ...(await createTenant(database, encryptionKey)) });
  await service.worker.kill('SIGTERM');
  ({ runId } = await service.trigger({ prompt: 'x' }));
  const frames = createFrameStore(database.pool);
  const data = JSON.stringify({ data: 'x'.repeat(limits.page.logMaxBytes / 4) });
  for (let n = 0; n < 4; n += 1) {
    const frame = { event: 'output', channel: 'output', data } as const;
    await frames.appendOwn({ runId, frames: [frame], facts: {} });
  }
  await writeChat(frames);
  metricsPort = await freePort();
  await service.api.kill('SIGTERM');
  await service.api.start({ METRICS_PORT: String(metricsPort) });
});
afterAll(() => service?.stop());

/** Frames as large as Redis buffers, so that a replay reads them from there. */
async function writeChat(frames: FrameStore): Promise<void> {
  const data = JSON.stringify({ text: 'x'.repeat(limits.redis.frameMaxBytes - 20) });
  const chat = Array.from({ length: chatFrames }, () => {
    return { event: 'assistant', channel: 'chat', data } as const;
  });
  await frames.appendOwn({ runId, frames: chat, facts: {} });
  const stored = await frames.read(runId, { order: 'asc', channel: 'chat', limit: chatFrames });
  const connection = await openRedis();
  const frameStream = createFrameStream(connection.redis, { instance: service.instance });
  expect(await frameStream.publish(runId, { frames: stored, deltas: [] })).toBe('buffered');
  frameStream.close();
  await connection.close();
}

/** Opens the readers, posts the bodies, and prints the statuses of the bodies' answers. */
const generator = `
  const { connect } = require('node:net');
  const { request } = require('node:http');
  const { once } = require('node:events');
  const { API: api, LOG: log, STREAM: stream, RUNS: runs, KEY: key, BYTES: bytes } = process.env;
  const { port, hostname } = new URL(api);
  for (let n = 0; n < ${readerCount}; n += 1) {
    const socket = connect(Number(port), hostname).pause().on('error', () => undefined);
    socket.write('GET ' + (n % 2 ? log : stream) + ' HTTP/1.1\\r\\nhost: a\\r\\nauthorization: Bearer ' + key + '\\r\\n\\r\\n');
  }
  const slice = Buffer.alloc(${miB}, '[');
  async function post() {
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json', 'content-length': bytes };
    const sent = request(api + runs, { method: 'POST', headers }).setMaxListeners(0);
    const status = new Promise((resolve) => {
      sent.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', () => resolve(0));
    });
    for (let at = 0; at < Number(bytes) && !sent.destroyed; at += slice.length) {
      if (!sent.write(slice)) await Promise.race([once(sent, 'drain'), status]).catch(() => undefined);
    }
    sent.end();
    return status;
  }
  Promise.all(Array.from({ length: ${bodyCount} }, post)).then((all) => {
    console.log(JSON.stringify(all));
    process.exit();
  });
`;

function generate(): { isRunning(): boolean; statuses: Promise<number[]> } {
  const env = {
    API: service.url,
    LOG: `/api/v1/runs/${runId}/logs?format=structured&channel=all`,
    STREAM: `/api/v1/runs/${runId}/stream`,
    RUNS: `/api/v1/flows/${service.flowId}/runs`,
    KEY: service.key,
    BYTES: String(limits.http.largeBodyMaxBytes),
  };
  const command = ['-c', '0', process.execPath, '-e', generator];
  const child = spawn('taskset', command, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const statuses = text(child.stdout).then((printed) => JSON.parse(printed) as number[]);
  return { isRunning: () => child.exitCode === null, statuses };
}

/** The most memory that the process has had so far. */
function peakBytes(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}

it('keeps memory and event loop within bounds under 50 unread answers, 50 unread streams and 50 large bodies', async () => {
  await scrape(metricsPort); // the delays are counted from here
  const slowdown = measureSlowdown(service.api.pid());
  const load = generate();
  const tookMs: number[] = [];
  while (load.isRunning()) {
    const from = performance.now();
    expect((await other.call('GET', '/flows')).status).toBe(200);
    tookMs.push(performance.now() - from);
    await sleep(20);
  }
  const statuses = await load.statuses;
  const loopDelay = valueOf(await scrape(metricsPort), 'nodejs_eventloop_lag_p99_seconds');
  const peak = peakBytes(service.api.pid());
  const slowest = Math.max(...tookMs);
  const factor = slowdown();
  console.info({ peakMiB: peak / miB, loopDelay, factor, calls: tookMs.length, slowest });
  expect(statuses).toHaveLength(bodyCount);
  expect(statuses.filter((status) => status !== 400 && status !== 503)).toEqual([]);
  expect(statuses).toContain(400);
  expect(peak).toBeLessThanOrEqual(memoryMaxBytes);
  expect(loopDelay).toBeLessThanOrEqual(loopDelayMaxSeconds * factor);
  expect(slowest).toBeLessThan(otherCallMaxMs * factor);
});
