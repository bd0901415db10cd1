import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import type { Run } from '../../../../../core/runs/run.ts';
import { createFrameStream } from '../../../../../systems/redis/frame-stream.ts';
import { redisKeys } from '../../../../../systems/redis/keys.ts';
import { createReconciler } from '../../../../../worker/reconciler/reconciler.ts';
import { openRedis, type RedisFixture } from '../../../../support/redis-fixture.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { scenario, fixture } = setupReconciler();
let redisFixture: RedisFixture;
beforeAll(async () => {
  redisFixture = await openRedis();
});
afterAll(() => redisFixture.close());

const frame = { seq: 1, at: new Date(), event: 'output', channel: 'output', data: '{}' } as const;

/** A worker whose Redis is away while its reconciler ends the runs. */
async function endWithoutRedis(count: number) {
  const redis = await redisFixture.connect();
  const frameStream = createFrameStream(redis, redisFixture);
  const reconciler = createReconciler({ ...fixture.deps, frameStream });
  const keysOf = redisKeys(redisFixture.instance);
  const runs: Run[] = [];
  for (let made = 0; made < count; made += 1) {
    const run = await fixture.started(await scenario.run());
    fixture.workflows.set(run.workflowId, 'closed');
    await frameStream.publish(run.runId, { frames: [frame], deltas: [] });
    await frameStream.publishFileTree(run.runId, '[]');
    runs.push(run);
  }
  redis.disconnect();
  await reconciler.pass();
  for (const run of runs) expect((await fixture.read(run)).endedAt).not.toBeNull();
  const keys = runs.flatMap(({ runId }) => [keysOf.frames(runId), keysOf.fileTree(runId)]);
  return { redis, reconciler, keys };
}

const remainingMs = (keys: string[]): Promise<number[]> =>
  Promise.all(keys.map((key) => redisFixture.redis.pttl(key)));

it('lets the buffers of runs that ended without Redis expire once it is back', async () => {
  const { redis, reconciler, keys } = await endWithoutRedis(3);
  expect(Math.min(...(await remainingMs(keys)))).toBeGreaterThan(limits.replay.bufferAfterEndMs);
  await reconciler.pass();
  await redis.connect();
  await reconciler.pass();
  const left = await remainingMs(keys);
  expect(Math.min(...left)).toBeGreaterThan(0);
  expect(Math.max(...left)).toBeLessThanOrEqual(limits.replay.bufferAfterEndMs);
});

it('does so once, and then leaves them alone', async () => {
  const { redis, reconciler, keys } = await endWithoutRedis(1);
  await redis.connect();
  await reconciler.pass();
  for (const key of keys) await redisFixture.redis.pexpire(key, 10_000);
  await reconciler.pass();
  expect(Math.max(...(await remainingMs(keys)))).toBeLessThanOrEqual(10_000);
});
