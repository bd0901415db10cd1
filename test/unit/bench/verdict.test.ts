import { expect, test } from 'vitest';
import { medianInterval, quantile } from '../../../bench/measure/statistics.ts';
import { isMissed, type Measured, verdictOf } from '../../../bench/measure/verdict.ts';

const less = { better: 'less', goal: 1.1, gate: 1.2 } as const;
const more = { better: 'more', goal: 0.8, gate: 0.6 } as const;
const verdictsOf = (
  ratio: number,
  [low, high]: [number, number],
  other: Partial<Measured> = {},
) => {
  const measured = { ratio, interval: { low, high }, count: 15, generatorShare: null, ...other };
  return [less, more].map((bounds) => verdictOf(bounds, measured));
};

test('uses the worse end of the interval, not the median', () => {
  expect(verdictsOf(1.08, [1.05, 1.1])[0]).toBe('goal met');
  expect(verdictsOf(1.08, [1.05, 1.11])[0]).toBe('gate met');
  expect(verdictsOf(0.82, [0.8, 0.85])[1]).toBe('goal met');
  expect(verdictsOf(0.82, [0.79, 0.85])[1]).toBe('gate met');
});

test('fails a ratio beyond the gate if the interval is narrow or entirely beyond it', () => {
  expect(verdictsOf(1.19, [1.15, 1.21])[0]).toBe('above gate');
  expect(verdictsOf(1.8, [1.21, 2.6])[0]).toBe('above gate');
  expect(verdictsOf(0.61, [0.59, 0.63])[1]).toBe('below gate');
  expect(verdictsOf(0.4, [0.2, 0.59])[1]).toBe('below gate');
});

test('is inconclusive if the interval is wide or the iterations are few', () => {
  expect(verdictsOf(1.19, [1.0, 1.4])[0]).toBe('inconclusive');
  expect(verdictsOf(0.61, [0.4, 0.9])[1]).toBe('inconclusive');
  expect(verdictsOf(1, [1, 1], { count: 14 })[0]).toBe('inconclusive');
  expect(verdictsOf(1, [1, 1], { generatorShare: 0.91 })[0]).toBe('inconclusive');
  expect(verdictsOf(1, [1, 1], { generatorShare: 0.9 })[0]).toBe('goal met');
});

test('fails the command only for a target beyond its gate', () => {
  const verdicts = ['goal met', 'gate met', 'inconclusive', 'above gate', 'below gate'] as const;
  expect(verdicts.filter(isMissed)).toEqual(['above gate', 'below gate']);
});

test('interpolates quantiles, and gives the same interval for the same figures', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3, 4, 5], 0.9)).toBeCloseTo(4.6);
  const values = [1.02, 1.05, 1.01, 1.3, 1.04, 1.03, 1.06, 1.02, 1.05, 1.04];
  const interval = medianInterval(values);
  expect(interval).toEqual(medianInterval(values));
  expect(interval.low).toBeGreaterThanOrEqual(1.01);
  expect(interval.low).toBeLessThanOrEqual(1.04);
  expect(interval.high).toBeGreaterThanOrEqual(1.04);
  expect(interval.high).toBeLessThan(1.3);
});
