import { expect, it, vi } from 'vitest';
import { createBodyMemory } from '../../../activities/body-memory.ts';
import { limits } from '../../../core/limits.ts';

const miB = 1024 * 1024;
const { smallBodyBytes, bodyBudget } = limits.webhook;

/** The memory of as many attempts, and how many of them reserved it at once. */
async function reserveMany(
  memoryOf: ReturnType<typeof createBodyMemory>,
  { queue = 'webhook', projectId = 'p', bytes = miB, count = 500 } = {},
) {
  vi.useFakeTimers();
  const memories = Array.from({ length: count }, () => memoryOf(queue));
  const answers = Promise.all(memories.map((memory) => memory.reserve(projectId, bytes)));
  await vi.advanceTimersByTimeAsync(bodyBudget.waitMs);
  vi.useRealTimers();
  return { memories, reserved: (await answers).filter(Boolean).length };
}

it('gives 500 attempts with large bodies 16 MiB per project and 32 MiB per queue', async () => {
  const memoryOf = createBodyMemory();
  const first = await reserveMany(memoryOf);
  expect(first.reserved).toBe(16);
  expect((await reserveMany(memoryOf, { projectId: 'q' })).reserved).toBe(16);
  expect((await reserveMany(memoryOf, { projectId: 'r' })).reserved).toBe(0);
  expect((await reserveMany(memoryOf, { queue: 'webhook/backlog' })).reserved).toBe(16);
  for (const memory of first.memories) memory.release();
  expect((await reserveMany(memoryOf, { projectId: 'r' })).reserved).toBe(16);
});

it('reserves from one byte above 64 KiB on', async () => {
  const memoryOf = createBodyMemory();
  expect((await reserveMany(memoryOf, { bytes: smallBodyBytes, count: 2_000 })).reserved).toBe(
    2_000,
  );
  const { reserved } = await reserveMany(memoryOf, { bytes: smallBodyBytes + 1, count: 300 });
  expect(reserved).toBe(Math.floor(bodyBudget.ownerMaxBytes / (smallBodyBytes + 1)));
});

it('lets a body larger than the share of a project use all of it', async () => {
  const { reserved } = await reserveMany(createBodyMemory(), { bytes: 40 * miB, count: 2 });
  expect(reserved).toBe(1);
});

it('returns memory that is reserved after the attempt was given up', async () => {
  const memoryOf = createBodyMemory();
  const [first, late] = [memoryOf('webhook'), memoryOf('webhook')];
  await first.reserve('p', 16 * miB);
  const waiting = late.reserve('p', 16 * miB);
  late.release();
  first.release();
  expect(await waiting).toBe(true);
  expect(await memoryOf('webhook').reserve('p', 16 * miB)).toBe(true);
});
