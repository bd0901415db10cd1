import { expect, test } from 'vitest';
import { modelLimits } from '../../../../../core/model/model-limits.ts';
import { createHostMemory } from '../../../../../worker/egress/model/body-memory.ts';

const { runBodiesMaxBytes, runReservedBytes, sharedBodiesMaxBytes } = modelLimits;

test('a run’s calls take as much as a run may have together, and not one byte more', () => {
  const run = createHostMemory().forRun();
  const [one, other] = [run.forCall(), run.forCall()];
  expect(one.take(runBodiesMaxBytes - 10)).toBe(true);
  expect(other.take(10)).toBe(true);
  expect(other.take(1)).toBe(false);
  one.free();
  expect(other.take(runBodiesMaxBytes - 10)).toBe(true);
  expect(other.take(1)).toBe(false);
});

test('runs that use up the shared memory leave every other run its reserved part', () => {
  const host = createHostMemory();
  let left = sharedBodiesMaxBytes;
  const greedy = [];
  while (left > 0) {
    const shared = Math.min(left, runBodiesMaxBytes - runReservedBytes);
    const memory = host.forRun().forCall();
    expect(memory.take(runReservedBytes + shared)).toBe(true);
    greedy.push(memory);
    left -= shared;
  }
  const modest = host.forRun().forCall();
  expect(modest.take(runReservedBytes)).toBe(true);
  expect(modest.take(1)).toBe(false);
  greedy[0]?.free();
  expect(modest.take(1)).toBe(true);
});

test('a refused request takes nothing, and all memory is free after the calls', () => {
  const host = createHostMemory();
  const run = host.forRun();
  for (let round = 0; round < 100; round += 1) {
    const call = run.forCall();
    expect(call.take(runBodiesMaxBytes)).toBe(true);
    expect(call.take(runBodiesMaxBytes)).toBe(false);
    call.free();
  }
});
