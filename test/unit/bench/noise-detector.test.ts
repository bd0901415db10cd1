import { expect, test } from 'vitest';
import { createNoiseDetector, quietOnes } from '../../../bench/measure/noise-detector.ts';

const spun = (spinMs: number) => ({ spinMs, pressure: null, stealTicks: null });

test('leaves out what began on a busy machine, measured by the usual', () => {
  const noises = [20, 21, 20, 26, 24, 19].map(spun);
  expect(quietOnes(noises)).toEqual([true, true, true, false, true, true]);
  expect(quietOnes([80, 82, 79].map(spun))).toEqual([true, true, true]);
});

test('looks at the machine itself', () => {
  const { spinMs } = createNoiseDetector().look();
  expect(spinMs).toBeGreaterThan(1);
});
