import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { asEvents, openStream, type SeenEvent, type SseClient } from '../../support/sse-client.ts';
import { assistant, type LogWriter, output, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();
let other: ApiProcess;

beforeAll(async () => {
  other = await fixture.start();
});

const newRun = (body: object = {}) => triggerRun(fixture, { url: api.url, ...tenant }, body);
const addressOf = (log: LogWriter, process = api) =>
  `${process.url}/api/v1/runs/${log.runId}/stream`;
/** A failure can be reproduced by its seed. */
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);

/** Reads like a browser: reconnects with its last id, to either process, until the end. */
async function readByPieces(log: LogWriter, random: () => number): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = [];
  let lastEventId: string | undefined = '0';
  for (let isOver = false; !isOver; ) {
    const client: SseClient = await openStream(addressOf(log, random() < 0.5 ? api : other), {
      key: tenant.key,
      lastEventId,
      leaveAfterBytes: 1 + Math.floor(random() ** 4 * 400_000),
    });
    await client.closed;
    const numbered = client.events.filter(({ id }) => id !== undefined);
    seen.push(...numbered);
    lastEventId = numbered.at(-1)?.id ?? lastEventId;
    isOver = client.names().at(-1) === 'finished';
  }
  return seen;
}

test('loses and repeats nothing after a disconnect at any byte', async () => {
  const log = await newRun();
  const random = randomFrom(seed);
  const writing = (async () => {
    for (let i = 0; i < 60; i += 1) {
      const size = random() < 0.05 ? 50_000 : Math.floor(random() * 800);
      const publish = random() < 0.8;
      await log.write([output(`${i} é€😀\n`), assistant('ü'.repeat(size))], { publish });
      if (random() < 0.1) await forgetRedis(log.runId);
    }
    await log.end();
  })();
  const transcripts = await Promise.all(Array.from({ length: 6 }, () => readByPieces(log, random)));
  await writing;
  const expected = digestOf(asEvents(log.stored));
  for (const seen of transcripts) {
    const frames = seen.filter(({ event }) => event !== 'finished');
    expect(digestOf(frames), `seed ${seed}`).toBe(expected);
  }
}, 120_000);

test('readers that connect during writes see each frame once, in order', async () => {
  const log = await newRun();
  const clients: SseClient[] = [];
  const reading = Array.from({ length: 40 }, async (_, i) => {
    await pause(i * 15);
    clients.push(await openStream(addressOf(log, i % 2 === 0 ? api : other), { key: tenant.key }));
  });
  for (let i = 0; i < 100; i += 1) {
    await log.write([assistant(`message ${i}`), assistant('again')]);
    if (i % 25 === 0) await forgetRedis(log.runId);
  }
  await Promise.all(reading);
  await log.end();
  await Promise.all(clients.map((client) => client.closed));
  const expected = digestOf(asEvents(log.stored));
  for (const client of clients) {
    const frames = client.events.filter(({ event }) => event === 'assistant');
    expect(digestOf(frames)).toBe(expected);
    expect(client.names().filter((name) => name === 'finished')).toHaveLength(1);
    expect(client.names()[0]).toBe('status');
  }
}, 120_000);

test('disconnects a stalled reader without delaying others', async () => {
  const log = await newRun();
  const stalled = await openStream(addressOf(log), { key: tenant.key });
  const good = await openStream(addressOf(log), { key: tenant.key });
  stalled.pause();
  const text = 'x'.repeat(30_000);
  for (let i = 0; i < 40; i += 1) {
    await log.write(Array.from({ length: 20 }, () => assistant(text)));
  }
  await good.until((events) => events.at(-1)?.id === '800');
  await expect.poll(() => openSockets(api), { timeout: limits.stream.stallMs + 30_000 }).toBe(1);
  stalled.resume();
  await stalled.closed;
  expect(stalled.names()).not.toContain('finished');
  const lastId = stalled.events.at(-1)?.id;
  const resumed = await openStream(addressOf(log), {
    key: tenant.key,
    ...(lastId === undefined ? {} : { lastEventId: lastId }),
  });
  await resumed.until((events) => events.at(-1)?.id === '800');
  const seen = [...stalled.events, ...resumed.events].filter(({ event }) => event === 'assistant');
  expect(digestOf(seen)).toBe(digestOf(asEvents(log.stored)));
  good.leave();
  resumed.leave();
});

test('a slow reader of a long log receives all of it', async () => {
  const log = await newRun();
  for (let i = 0; i < 40; i += 1) {
    await log.write(Array.from({ length: 20 }, () => assistant('y'.repeat(10_000))));
  }
  await log.end();
  const slow = await openStream(addressOf(log), { key: tenant.key });
  for (let i = 0; i < 30; i += 1) {
    slow.pause();
    await pause(30);
    slow.resume();
    await pause(5);
  }
  await slow.closed;
  const frames = slow.events.filter(({ event }) => event === 'assistant');
  expect(digestOf(frames)).toBe(digestOf(asEvents(log.stored)));
});

test('a thousand connections leak nothing', async () => {
  const log = await newRun();
  await log.write([output('one\n'), assistant('one')]);
  for (let round = 0; round < 20; round += 1) {
    const clients = await Promise.all(
      Array.from({ length: 50 }, () => openStream(addressOf(log), { key: tenant.key })),
    );
    expect(clients.every(({ status }) => status === 200)).toBe(true);
    for (const client of clients) client.leave();
    await Promise.all(clients.map(({ closed }) => closed));
  }
  await expect.poll(() => openSockets(api)).toBe(0);
  // Redis is updated after the connection has closed.
  await expect.poll(takenSeats).toBe(0);
  await expect.poll(() => channelsOf(log.runId)).toEqual([]);
}, 240_000);

async function takenSeats(): Promise<number> {
  const { redis, instance } = fixture.redis;
  const seats = await redis.keys(`frs:${instance}:seats:*`);
  const taken = await Promise.all(seats.map((key) => redis.zcard(key)));
  return taken.reduce((sum, count) => sum + count, 0);
}

async function channelsOf(runId: string): Promise<string[]> {
  const channels = (await fixture.redis.redis.call('PUBSUB', 'CHANNELS', '*')) as string[];
  return channels.filter((channel) => channel.includes(runId));
}

/** Connections, without the keep-alive ones. */
async function openSockets(process: ApiProcess): Promise<number> {
  process.app.server.closeIdleConnections();
  return new Promise((resolve, reject) => {
    process.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

async function forgetRedis(runId: string): Promise<void> {
  const keys = (await fixture.redis.keys()).filter((key) => key.includes(runId));
  if (keys.length > 0) await fixture.redis.redis.del(...keys);
}

function digestOf(events: SeenEvent[]): string {
  const text = events.map(({ id, event, data }) => `${id} ${event} ${data}`).join('\n');
  return `${events.length} ${createHash('sha256').update(text).digest('hex')}`;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A small pseudorandom generator with a seed. */
function randomFrom(start: number): () => number {
  let state = start + 1;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
