import { expect, test } from 'vitest';
import { modelLimits } from '../../../../../core/model/model-limits.ts';
import { createHostMemory } from '../../../../../worker/egress/model/body-memory.ts';

const { runBodiesMaxBytes, runShareBytes, commonBodiesMaxBytes } = modelLimits;

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

test('runs that take all that is common leave every other run its share', () => {
  const host = createHostMemory();
  let left = commonBodiesMaxBytes;
  const greedy = [];
  while (left > 0) {
    const common = Math.min(left, runBodiesMaxBytes - runShareBytes);
    const memory = host.forRun().forCall();
    expect(memory.take(runShareBytes + common)).toBe(true);
    greedy.push(memory);
    left -= common;
  }
  const modest = host.forRun().forCall();
  expect(modest.take(runShareBytes)).toBe(true);
  expect(modest.take(1)).toBe(false);
  greedy[0]?.free();
  expect(modest.take(1)).toBe(true);
});

test('what was refused is not taken, and all is free after the calls', () => {
  const host = createHostMemory();
  const run = host.forRun();
  for (let round = 0; round < 100; round += 1) {
    const call = run.forCall();
    expect(call.take(runBodiesMaxBytes)).toBe(true);
    expect(call.take(runBodiesMaxBytes)).toBe(false);
    call.free();
  }
});
