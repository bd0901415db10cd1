import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { createFrameStream } from '../../../../systems/redis/frame-stream.ts';
import { redisKeys } from '../../../../systems/redis/keys.ts';
import { openRedis, type RedisFixture } from '../../../support/redis-fixture.ts';

let fixture: RedisFixture;
beforeAll(async () => {
  fixture = await openRedis();
});
afterAll(() => fixture.close());

const at = new Date();
const written = 12 * 1024 ** 2;

/** Memory of the key with all that Redis adds. */
const memoryOf = async (key: string): Promise<number> =>
  Number(await fixture.redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'));

async function publishRun(runId: string, frameBytes: number): Promise<void> {
  const stream = createFrameStream(fixture.redis, fixture);
  const data = 'x'.repeat(frameBytes);
  const perBatch = Math.ceil((512 * 1024) / frameBytes);
  for (let seq = 1; seq * frameBytes < written; seq += perBatch) {
    const frames = Array.from({ length: perBatch }, (_, n) => {
      return { seq: seq + n, at, event: 'assistant', channel: 'chat', data } as const;
    });
    expect(await stream.publish(runId, { frames, deltas: [] })).toBe('buffered');
  }
  stream.close();
}

test.each([700, 2_100, 4_200, 8_300, 20_600, limits.redis.frameMaxBytes])(
  'a run with frames of %i bytes takes no more memory than documented',
  async (frameBytes) => {
    const runId = randomUUID();
    const keys = redisKeys(fixture.instance);
    await publishRun(runId, frameBytes);
    const stream = createFrameStream(fixture.redis, fixture);
    await stream.publishFileTree(runId, 'x'.repeat(limits.fileTree.maxBytes));
    const sizes = [await memoryOf(keys.frames(runId)), await memoryOf(keys.fileTree(runId))];
    const sum = sizes.reduce((total, size) => total + size, 0);
    expect(sum).toBeLessThanOrEqual(limits.redis.runMaxBytes);
    expect(sum).toBeGreaterThan(limits.replay.bufferBytes / 2);
    stream.close();
  },
);

test('a new publisher of a run keeps nothing that it has not counted', async () => {
  const runId = randomUUID();
  const frames = (first: number) => [
    { seq: first, at, event: 'assistant', channel: 'chat', data: 'x' } as const,
  ];
  await publishRun(runId, 20_600);
  const key = redisKeys(fixture.instance).frames(runId);
  const before = await fixture.redis.xlen(key);
  expect(before).toBeGreaterThan(200);
  const next = createFrameStream(fixture.redis, fixture);
  expect(await next.publish(runId, { frames: frames(10_001), deltas: [] })).toBe('buffered');
  expect(await next.publish(runId, { frames: frames(10_002), deltas: [] })).toBe('buffered');
  expect(await fixture.redis.xlen(key)).toBe(2);
  next.close();
});
