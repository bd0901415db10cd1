import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StoredFrame } from '../../../../core/frames/frame.ts';
import { limits } from '../../../../core/limits.ts';
import { createFrameStream, type FrameStream } from '../../../../systems/redis/frame-stream.ts';
import { redisKeys } from '../../../../systems/redis/keys.ts';
import type { Notification } from '../../../../systems/redis/subscriber.ts';
import { lostRedis, openRedis, type RedisFixture } from '../../../support/redis-fixture.ts';

let fixture: RedisFixture;
let stream: FrameStream;

beforeAll(async () => {
  fixture = await openRedis();
  stream = createFrameStream(fixture.redis, { instance: fixture.instance });
});

afterAll(async () => {
  stream.close();
  await fixture.close();
});

const at = new Date('2026-11-01T10:00:00.123Z');
const frame = (seq: number, text = `line ${seq}`): StoredFrame => {
  return { seq, at, event: 'output', channel: 'output', data: JSON.stringify({ data: text }) };
};
const fromStart = { seq: 0, n: 0 };

test('reads frames and deltas in the order of publication', async () => {
  const runId = randomUUID();
  const deltas = [
    { seq: 1, n: 1, data: '{"a":1}' },
    { seq: 1, n: 2, data: '{"a":2}' },
    { seq: 2, n: 1, data: '{"a":3}' },
  ];
  const frames = [frame(1, 'é\u2028'), frame(2)];
  expect(await stream.publish(runId, { frames, deltas })).toBe('buffered');
  expect(await stream.read(runId, fromStart, 100)).toEqual([
    { kind: 'frame', frame: frames[0] },
    { kind: 'delta', delta: deltas[0] },
    { kind: 'delta', delta: deltas[1] },
    { kind: 'frame', frame: frames[1] },
    { kind: 'delta', delta: deltas[2] },
  ]);
  expect(await stream.read(runId, { seq: 1, n: 1 }, 1)).toEqual([
    { kind: 'delta', delta: deltas[1] },
  ]);
});

test('a page ends with the entry that reaches its bytes, or with the last of its entries', async () => {
  const runId = randomUUID();
  const frames = Array.from({ length: 40 }, (_, i) => ({ ...frame(i + 1), data: 'x'.repeat(100) }));
  const deltas = [{ seq: 40, n: 1, data: '{}' }];
  await stream.publish(runId, { frames, deltas });
  const sizeOf = async (count: number, maxBytes: number, seq = 0) =>
    (await stream.readPage(runId, { seq, n: 0 }, { count, maxBytes }))?.length;
  expect(await sizeOf(100, 3_500)).toBe(35);
  expect(await sizeOf(100, 3_501)).toBe(36);
  expect(await sizeOf(100, 1)).toBe(1);
  expect(await sizeOf(33, 1e6)).toBe(33);
  expect(await stream.readPage(runId, fromStart, { count: 100, maxBytes: 1e6 })).toEqual(
    await stream.read(runId, fromStart, 100),
  );
  expect(await sizeOf(100, 1e6, 39)).toBe(2);
  expect(await sizeOf(100, 1e6, 41)).toBe(0);
});

test('stores a frame once, even if published twice', async () => {
  const runId = randomUUID();
  expect(await stream.publish(runId, { frames: [frame(1), frame(2)], deltas: [] })).toBe(
    'buffered',
  );
  expect(await stream.publish(runId, { frames: [frame(2), frame(3)], deltas: [] })).toBe(
    'buffered',
  );
  const seqs = (await stream.read(runId, fromStart, 100))?.map((entry) =>
    entry.kind === 'frame' ? entry.frame.seq : null,
  );
  expect(seqs).toEqual([1, 2, 3]);
});

test('stores a stub for frames above 32 KiB', async () => {
  const runId = randomUUID();
  const fitting = { ...frame(1), data: 'x'.repeat(limits.redis.frameMaxBytes) };
  const longer = { ...frame(2), data: 'x'.repeat(limits.redis.frameMaxBytes + 1) };
  await stream.publish(runId, { frames: [fitting, longer], deltas: [] });
  expect(await stream.read(runId, fromStart, 100)).toEqual([
    { kind: 'frame', frame: fitting },
    { kind: 'stub', seq: 2 },
  ]);
});

test("bounds the bytes of a run's stream", async () => {
  const runId = randomUUID();
  const data = JSON.stringify({ data: 'y'.repeat(30_000) });
  for (let batch = 0; batch < 40; batch += 1) {
    const frames = Array.from({ length: 20 }, (_, i) => ({ ...frame(batch * 20 + i + 1), data }));
    expect(await stream.publish(runId, { frames, deltas: [] })).toBe('buffered');
  }
  const kept = (await stream.read(runId, fromStart, 10_000)) ?? [];
  expect(kept.length * data.length).toBeLessThanOrEqual(
    limits.replay.bufferBytes + 20 * data.length,
  );
  expect(kept.length * data.length).toBeGreaterThan(limits.replay.bufferBytes / 2);
  const last = kept.at(-1);
  expect(last?.kind === 'frame' && last.frame.seq).toBe(800);
});

test("bounds the frames of a run's stream", async () => {
  const runId = randomUUID();
  for (let batch = 0; batch < 12; batch += 1) {
    const frames = Array.from({ length: 1_000 }, (_, i) => frame(batch * 1_000 + i + 1));
    await stream.publish(runId, { frames, deltas: [] });
  }
  const kept = await fixture.redis.xlen(redisKeys(fixture.instance).frames(runId));
  expect(kept).toBeLessThanOrEqual(limits.replay.bufferFrames + 1_000);
});

test('sets an expiry on every key, five minutes after the end of the run', async () => {
  const runId = randomUUID();
  const keys = redisKeys(fixture.instance);
  await stream.publish(runId, { frames: [frame(1)], deltas: [] });
  expect(await stream.readFileTree(runId)).toEqual({ json: null });
  await stream.publishFileTree(runId, '[]');
  expect(await stream.readFileTree(runId)).toEqual({ json: '[]' });
  for (const key of [keys.frames(runId), keys.fileTree(runId)]) {
    expect(await fixture.redis.pttl(key)).toBeGreaterThan(limits.replay.bufferAfterEndMs);
  }
  expect(await stream.expire(runId)).toBe(true);
  for (const key of [keys.frames(runId), keys.fileTree(runId)]) {
    const left = await fixture.redis.pttl(key);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(5 * 60_000);
  }
});

test('a publication after the end of the run is buffered, and keeps nothing longer', async () => {
  const [early, late] = [randomUUID(), randomUUID()];
  const keys = redisKeys(fixture.instance);
  await stream.publish(early, { frames: [frame(1)], deltas: [] });
  for (const runId of [early, late]) expect(await stream.expireEnded(runId)).toBe(true);
  await fixture.redis.pexpire(keys.frames(early), 60_000);
  for (const runId of [early, late]) {
    expect(await stream.publish(runId, { frames: [frame(2)], deltas: [] })).toBe('buffered');
    expect(await stream.publishFileTree(runId, '[]')).toBe(true);
    for (const key of [keys.frames(runId), keys.fileTree(runId)]) {
      const left = await fixture.redis.pttl(key);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(limits.replay.bufferAfterEndMs);
    }
  }
  expect(await fixture.redis.pttl(keys.frames(early))).toBeLessThanOrEqual(60_000);
  expect((await stream.read(early, fromStart, 3))?.at(-1)).toMatchObject({ frame: frame(2) });
  expect(await fixture.redis.pttl(keys.ended(late))).toBeLessThanOrEqual(limits.redis.endedTtlMs);
});

test('a session that runs again has its buffer for longer, as before its sleep', async () => {
  const runId = randomUUID();
  const key = redisKeys(fixture.instance).frames(runId);
  await stream.publish(runId, { frames: [frame(1)], deltas: [] });
  expect(await stream.expire(runId)).toBe(true);
  await stream.publish(runId, { frames: [frame(2)], deltas: [] });
  expect(await fixture.redis.pttl(key)).toBeGreaterThan(limits.replay.bufferAfterEndMs);
});

test('notifies subscribers with the kind of change, until they unsubscribe', async () => {
  const runId = randomUUID();
  const received: Notification[] = [];
  const unsubscribe = stream.subscribe(runId, (wake) => received.push(wake));
  await expect.poll(() => received).toEqual([{ kind: 'resync' }]);
  await stream.publish(runId, { frames: [frame(1), frame(2)], deltas: [] });
  await stream.notify(runId);
  await stream.publishFileTree(runId, '[]');
  await expect
    .poll(() => received.slice(1))
    .toMatchObject([{ kind: 'frames', lastSeq: 2 }, { kind: 'state' }, { kind: 'filetree' }]);
  unsubscribe();
  await stream.notify(runId);
  await stream.notify(runId);
  expect(received).toHaveLength(4);
});

test('includes short batches in the notification, but no long ones', async () => {
  const runId = randomUUID();
  const received: Notification[] = [];
  const unsubscribe = stream.subscribe(runId, (wake) => received.push(wake));
  await expect.poll(() => received.length).toBe(1);
  const delta = { seq: 1, n: 1, data: '{"a":"\\u2028 é"}' };
  await stream.publish(runId, { frames: [frame(1, 'é\u2028 "\n')], deltas: [delta] });
  const long = { ...frame(2), data: 'x'.repeat(limits.redis.notificationMaxBytes) };
  await stream.publish(runId, { frames: [long], deltas: [] });
  await expect.poll(() => received.length).toBe(3);
  expect(received.slice(1)).toEqual([
    { kind: 'frames', lastSeq: 1, entries: await stream.read(runId, fromStart, 2) },
    { kind: 'frames', lastSeq: 2, entries: [] },
  ]);
  unsubscribe();
});

test('sends resync when its connection was lost, and reconnects', async () => {
  const runId = randomUUID();
  const own = createFrameStream(await fixture.connect(), { instance: fixture.instance });
  const received: Notification[] = [];
  own.subscribe(runId, (wake) => received.push(wake));
  await expect.poll(() => received.length).toBe(1);
  const mine = String(await fixture.redis.client('LIST', 'TYPE', 'PUBSUB'))
    .split('\n')
    .filter((line) => line.includes(`name=${fixture.instance} `));
  for (const line of mine)
    await fixture.redis.client('KILL', 'ID', /id=(\d+)/.exec(line)?.[1] ?? '0');
  await expect.poll(() => received.length).toBe(2);
  expect(received[1]).toEqual({ kind: 'resync' });
  await stream.notify(runId);
  await expect.poll(() => received.at(-1)).toEqual({ kind: 'state' });
  own.close();
});

test('returns at once, without an error, while Redis is down', async () => {
  const redis = lostRedis();
  const lost = createFrameStream(redis, { instance: fixture.instance });
  const runId = randomUUID();
  const began = performance.now();
  lost.subscribe(runId, () => {})();
  expect(await lost.publish(runId, { frames: [frame(1)], deltas: [] })).toBe('failed');
  expect(await lost.notify(runId)).toBe(false);
  expect(await lost.read(runId, fromStart, 1)).toBeNull();
  expect(await lost.readPage(runId, fromStart, { count: 1, maxBytes: 1 })).toBeNull();
  expect(await lost.publishFileTree(runId, '[]')).toBe(false);
  expect(await lost.readFileTree(runId)).toBeNull();
  expect(await lost.expire(runId)).toBe(false);
  expect(performance.now() - began).toBeLessThan(limits.redis.commandTimeoutMs);
  lost.close();
  redis.disconnect();
});
