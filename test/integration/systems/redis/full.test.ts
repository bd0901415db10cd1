// A Redis that has reached its memory limit. The four runs write more than it holds.

import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { StoredFrame } from '../../../../core/frames/frame.ts';
import { limits } from '../../../../core/limits.ts';
import { freePort } from '../../../../dev/stack/ports.ts';
import { createAcceptedIds } from '../../../../systems/redis/accepted-ids.ts';
import { createFrameStream, type FrameStream } from '../../../../systems/redis/frame-stream.ts';
import { redisKeys } from '../../../../systems/redis/keys.ts';
import { readMemoryUse } from '../../../../systems/redis/memory-use.ts';
import { createPresence } from '../../../../systems/redis/presence.ts';
import { createRateLimiter } from '../../../../systems/redis/rate-limit.ts';
import { createStreamSlots } from '../../../../systems/redis/stream-slots.ts';
import type { Notification } from '../../../../systems/redis/subscriber.ts';
import { fillRedis } from '../../../support/fill-redis.ts';
import { openRedis, type RedisFixture } from '../../../support/redis-fixture.ts';
import { startRedis } from '../../../support/redis-process.ts';

const miB = 1024 ** 2;
const limitBytes = 16 * miB;
let server: ChildProcess;
let fixture: RedisFixture;
let stream: FrameStream;
let empty = async (): Promise<void> => undefined;

beforeAll(async () => {
  const port = await freePort();
  server = await startRedis(port, { maxmemory: '16mb', 'maxmemory-policy': 'noeviction' });
  fixture = await openRedis(`redis://127.0.0.1:${port}/0`);
  stream = createFrameStream(fixture.redis, fixture);
});
afterAll(async () => {
  stream.close();
  await fixture.close();
  server.kill('SIGKILL');
});
afterEach(async () => {
  await empty();
  await fixture.redis.flushall();
});

const at = new Date('2026-11-01T10:00:00.123Z');
const frame = (seq: number, data = `{"data":"line ${seq}"}`): StoredFrame => {
  return { seq, at, event: 'output', channel: 'output', data };
};
const fromStart = { seq: 0, n: 0 };

const fill = async (): Promise<void> => {
  empty = await fillRedis(fixture.redis);
};

async function listen(runId: string): Promise<Notification[]> {
  const received: Notification[] = [];
  stream.subscribe(runId, (notification) => received.push(notification));
  await expect.poll(() => received.length).toBe(1);
  return received;
}

test('notifies readers at once of what a full Redis does not buffer', async () => {
  const runId = randomUUID();
  const received = await listen(runId);
  await fill();
  const delta = { seq: 1, n: 1, data: '{"a":1}' };
  const began = performance.now();
  for (let seq = 1; seq <= 5; seq += 1) {
    const deltas = seq === 1 ? [delta] : [];
    expect(await stream.publish(runId, { frames: [frame(seq)], deltas })).toBe('rejected');
    const heard = expect.poll(() => received.at(-1), { interval: 2 });
    await heard.toMatchObject({ kind: 'frames', lastSeq: seq });
  }
  expect(performance.now() - began).toBeLessThan(limits.stream.tickMs);
  const entries = received.flatMap((each) => (each.kind === 'frames' ? each.entries : []));
  expect(entries.slice(0, 2)).toEqual([
    { kind: 'frame', frame: frame(1) },
    { kind: 'delta', delta },
  ]);
  expect(entries).toHaveLength(6);
});

test('a run that finds no memory releases its buffer, and has a new one when there is room', async () => {
  const [kept, released] = [randomUUID(), randomUUID()];
  for (let seq = 1; seq <= 150; seq += 1) {
    const frames = [frame(seq, 'x'.repeat(20_000))];
    for (const runId of [kept, released])
      expect(await stream.publish(runId, { frames, deltas: [] })).toBe('buffered');
  }
  await fill();
  expect(await stream.publish(released, { frames: [frame(151)], deltas: [] })).toBe('rejected');
  expect(await stream.read(released, fromStart, 100)).toEqual([]);
  expect(await stream.read(kept, fromStart, 1_000)).toHaveLength(150);
  expect(await stream.publish(released, { frames: [frame(152)], deltas: [] })).toBe('buffered');
  expect(await stream.read(released, fromStart, 100)).toEqual([
    { kind: 'frame', frame: frame(152) },
  ]);
});

test('four runs of 20 MiB share 16 MiB, and every batch is announced', async () => {
  const runIds = Array.from({ length: 4 }, () => randomUUID());
  const heard = await Promise.all(runIds.map(listen));
  const data = JSON.stringify({ data: 'y'.repeat(20_000) });
  const batches = 50;
  const perBatch = Math.ceil((20 * miB) / batches / data.length);
  const outcomes: string[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    const frames = Array.from({ length: perBatch }, (_, n) =>
      frame(batch * perBatch + n + 1, data),
    );
    for (const runId of runIds) {
      outcomes.push(await stream.publish(runId, { frames, deltas: [] }));
      const { usedBytes } = (await readMemoryUse(fixture.redis)) ?? { usedBytes: 0 };
      expect(usedBytes).toBeLessThan(limitBytes + 4 * miB);
    }
  }
  expect(new Set(outcomes)).toEqual(new Set(['buffered', 'rejected']));
  const lastSeqs = Array.from({ length: batches }, (_, n) => (n + 1) * perBatch);
  for (const received of heard) {
    await expect.poll(() => received.length).toBe(1 + batches);
    const seqs = received.flatMap((each) => (each.kind === 'frames' ? [each.lastSeq] : []));
    expect(seqs).toEqual(lastSeqs);
  }
  for (const runId of runIds) {
    const entries = (await stream.read(runId, fromStart, 10_000)) ?? [];
    const seqs = entries.map((entry) => (entry.kind === 'frame' ? entry.frame.seq : 0));
    expect(seqs).toEqual(seqs.map((_, n) => (seqs[0] ?? 0) + n));
  }
});

describe('a full Redis still takes', () => {
  const keys = () => redisKeys(fixture.instance);
  const ttl = (key: string) => fixture.redis.pttl(key);

  test('the presence of readers', async () => {
    const presence = createPresence(fixture.redis, fixture);
    await fill();
    await presence.touch(['run-1']);
    expect(await presence.unattendedForMs('run-1')).toBeLessThan(5_000);
    expect(await ttl(keys().presence('run-1'))).toBeGreaterThan(limits.presence.ttlMs - 10_000);
  });

  test('stream slots, their renewal, and times to reconnect', async () => {
    const slots = createStreamSlots(fixture.redis, fixture);
    const request = { slotId: 's', keyId: 'k', projectId: 'p' };
    await fill();
    expect(await slots.claim(request)).toEqual({ allowed: true, openOfKey: 1 });
    await fixture.redis.del(keys().streamSlots('key', 'k'));
    expect(await slots.renew([request])).toEqual(new Map([['k', 1]]));
    expect(await fixture.redis.zcard(keys().streamSlots('key', 'k'))).toBe(1);
    expect(await ttl(keys().streamSlots('key', 'k'))).toBeGreaterThan(0);
    expect(await slots.reserveReconnects('k', 5_000)).toBe(0);
    expect(await slots.reserveReconnects('k', 5_000)).toBeGreaterThan(3_000);
    expect(await ttl(keys().reconnects('k'))).toBeGreaterThan(5_000);
  });

  test('tokens of a rate limit over all processes', async () => {
    const nowMs = () => performance.timeOrigin + performance.now();
    const limiters = [1, 2].map(() =>
      createRateLimiter(fixture.redis, { instance: fixture.instance, nowMs }),
    );
    await fill();
    const taken: boolean[] = [];
    for (let n = 0; n < 5; n += 1) {
      for (const limiter of limiters) taken.push((await limiter.take('key', 5)).allowed);
    }
    expect(taken.filter((allowed) => allowed)).toHaveLength(5);
    expect(await ttl(keys().bucket('key'))).toBeGreaterThan(0);
  });

  test('accepted IDs', async () => {
    const accepted = createAcceptedIds(fixture.redis, fixture);
    await fill();
    accepted.add('run-1');
    await expect.poll(() => fixture.redis.zrange(keys().accepted, '0', '-1')).toEqual(['run-1']);
    expect(await ttl(keys().accepted)).toBeGreaterThan(0);
  });

  test('the end of a run, so that a late publication does not keep its keys', async () => {
    await stream.publish('run-1', { frames: [frame(1)], deltas: [] });
    await fill();
    expect(await stream.expireEnded('run-1')).toBe(true);
    await empty();
    expect(await stream.publish('run-1', { frames: [frame(2)], deltas: [] })).toBe('buffered');
    expect(await ttl(keys().frames('run-1'))).toBeLessThanOrEqual(limits.replay.bufferAfterEndMs);
    expect(await ttl(keys().ended('run-1'))).toBeGreaterThan(0);
  });

  test('the file tree of a run, with its notification', async () => {
    const received = await listen('run-1');
    await fill();
    for (const tree of ['["a"]', '["b"]']) {
      expect(await stream.publishFileTree('run-1', tree)).toBe(true);
      expect(await stream.readFileTree('run-1')).toEqual({ json: tree });
    }
    const heard = expect.poll(() => received.slice(1));
    await heard.toEqual([{ kind: 'filetree' }, { kind: 'filetree' }]);
    expect(await ttl(keys().fileTree('run-1'))).toBeGreaterThan(0);
  });
});
