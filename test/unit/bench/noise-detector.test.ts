import { expect, test } from 'vitest';
import { createNoiseDetector, quietOnes } from '../../../bench/measure/noise-detector.ts';

const spun = (spinMs: number) => ({ spinMs, pressure: null, stealTicks: null });

test('excludes iterations that started on a machine busier than usual', () => {
  const noises = [20, 21, 20, 26, 24, 19].map(spun);
  expect(quietOnes(noises)).toEqual([true, true, true, false, true, true]);
  expect(quietOnes([80, 82, 79].map(spun))).toEqual([true, true, true]);
});

test('measures the machine itself', () => {
  const { spinMs } = createNoiseDetector().look();
  expect(spinMs).toBeGreaterThan(1);
});
