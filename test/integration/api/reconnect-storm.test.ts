// All streams of a key return after a restart of the API, or after all of them broke at once. An
// EventSource gives up for good at the first answer other than 200.

import { EventSource } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createRateLimiter } from '../../../systems/redis/rate-limit.ts';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { openStream } from '../../support/sse-client.ts';
import { assistant, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api } = useTenant();

/** Uses every token that the key has. */
async function emptyBucket({ keyId, rateLimitRpm }: Limited): Promise<void> {
  const { redis, instance } = fixture.redis;
  const limiter = createRateLimiter(redis, { instance, nowMs: Date.now });
  const take = () => limiter.take(keyId, rateLimitRpm);
  await Promise.all(Array.from({ length: rateLimitRpm }, take));
  while ((await take()).allowed);
}

async function restart(process: ApiProcess): Promise<ApiProcess> {
  await process.close();
  return fixture.start({}, Number(new URL(process.url).port));
}

interface Limited {
  keyId: string;
  rateLimitRpm: number;
}

/** Streams of one key and run on two processes, opened one after the other. */
async function openSources({ rateLimitRpm, count }: { rateLimitRpm: number; count: number }) {
  const own = await fixture.tenant({ key: { rateLimitRpm } });
  const log = await triggerRun(fixture, { url: api.url, ...own });
  const processes = await Promise.all([fixture.start(), fixture.start()]);
  const sources: OpenSource[] = [];
  onTestFinished(() => sources.forEach(({ source }) => source.close()));
  for (let n = 0; n < count; n += 1) {
    const { url } = processes[n % 2 === 0 ? 0 : 1];
    const one = openSource(`${url}/api/v1/runs/${log.runId}/stream?api_key=${own.key}`);
    sources.push(one);
    await expect.poll(() => one.opened, { interval: 5 }).toBe(1);
  }
  return { limited: { keyId: own.keyId, rateLimitRpm }, log, processes, sources };
}

interface OpenSource {
  source: EventSource;
  /** How often. */
  opened: number;
  /** Of the frames that it has received. */
  ids: string[];
}

function openSource(url: string): OpenSource {
  const one: OpenSource = { source: new EventSource(url), opened: 0, ids: [] };
  one.source.addEventListener('open', () => void (one.opened += 1));
  one.source.addEventListener('assistant', (event) => {
    one.ids.push('lastEventId' in event ? String(event.lastEventId) : 'no message');
  });
  return one;
}

/** Waits until each has returned or given up. */
async function expectAllReturn(sources: OpenSource[], timeout: number): Promise<void> {
  const isSettled = ({ opened, source }: OpenSource) =>
    opened > 1 || source.readyState === EventSource.CLOSED;
  await expect.poll(() => sources.filter(isSettled).length, { timeout }).toBe(sources.length);
  expect(sources.filter(({ opened }) => opened > 1)).toHaveLength(sources.length);
}

test('no EventSource is locked out when both processes restart and the key has no token left', async () => {
  const opened = await openSources({ rateLimitRpm: 2_400, count: 80 });
  await emptyBucket(opened.limited);
  const restarted = await Promise.all(opened.processes.map(restart));
  await expectAllReturn(opened.sources, 15_000);
  for (const { log } of restarted) expect(log()).not.toContain('RATE_LIMITED');
});

test('none is locked out when all streams break soon after they were opened, and none misses a frame', async () => {
  const { limited, log, processes, sources } = await openSources({
    ...{ rateLimitRpm: 900, count: 60 },
  });
  await log.write([assistant('one')]);
  await expect.poll(() => sources.filter(({ ids }) => ids.length === 1).length).toBe(60);
  await emptyBucket(limited);
  for (const { app } of processes) app.server.closeAllConnections();
  await log.write([assistant('two')]);
  await expectAllReturn(sources, 30_000);
  await expect.poll(() => sources.filter(({ ids }) => ids.length === 2).length).toBe(60);
  expect(new Set(sources.map(({ ids }) => ids.join()))).toEqual(new Set(['1,2']));
});

test('a stream that is resumed takes a token like every request', async () => {
  const own = await fixture.tenant({ key: { rateLimitRpm: 2 } });
  const { runId } = await triggerRun(fixture, { url: api.url, ...own });
  const address = `${api.url}/api/v1/runs/${runId}/stream`;
  const resume = () => openStream(address, { key: own.key, lastEventId: '0' });
  const resumed = await resume();
  const refused = await resume();
  expect([resumed.status, refused.status]).toEqual([200, 429]);
  resumed.leave();
});
