import { cpus } from 'node:os';
import { describe, expect, test } from 'vitest';
import { requireDurability } from '../../../bench/measure/durability.ts';
import { isNoisy, noiseBetween, ticksOfOthers } from '../../../bench/measure/noise.ts';
import { medianInterval, overlaps, quantile } from '../../../bench/measure/statistics.ts';
import {
  gateFrom,
  type Measurement,
  missesGoal,
  summarize,
  verdictOf,
} from '../../../bench/measure/verdict.ts';
import { measurementOf } from './measurement.ts';

const judged = (measurement: Measurement, gate?: number) =>
  verdictOf(measurement, summarize(measurement), gate);

describe('a verdict', () => {
  const ratios = [1.1, 1.2, 1.15, 1.1, 1.2];

  test('compares the worse end of the interval with the gate', () => {
    expect(judged(measurementOf({ ratios }), 1.2)).toBe('met');
    expect(judged(measurementOf({ ratios }), 1.19)).toBe('missed');
    expect(judged(measurementOf({ ratios, better: 'more' }), 1.1)).toBe('met');
    expect(judged(measurementOf({ ratios, better: 'more' }), 1.11)).toBe('missed');
    expect(judged(measurementOf({ ratios }))).toBe('no gate');
  });

  test('is inconclusive with few iterations, a busy generator or many noisy iterations', () => {
    expect(judged(measurementOf({ ratios, planned: 6 }), 2)).toBe('inconclusive');
    expect(judged(measurementOf({ ratios, generatorShare: 0.91 }), 2)).toBe('inconclusive');
    expect(judged(measurementOf({ ratios, noisy: 2 }), 2)).toBe('inconclusive');
    expect(judged(measurementOf({ ratios, noisy: 1, generatorShare: 0.9 }), 2)).toBe('met');
  });

  test('ignores the warm-up and counts noisy iterations', () => {
    const measurement = measurementOf({ ratios: [1, 1, 1], noisy: 3, warmUp: 9 });
    expect(summarize(measurement)).toMatchObject({ ratio: 1, counted: 3, noisy: 3 });
  });

  test('is missed by 20 ms more than the run that set the gate', () => {
    for (const limitMs of [2, 40, 140, 850]) {
      const jitter = [0.99, 1, 1.01, 1, 0.995, 1.005];
      const before = jitter.map((factor) => 1.1 * factor);
      const first = measurementOf({ ratios: before, limit: limitMs });
      const gate = gateFrom(first, summarize(first));
      expect(judged(first, gate)).toBe('met');
      const slower = before.map((ratio) => ratio + 20 / limitMs);
      expect(judged(measurementOf({ ratios: slower, limit: limitMs }), gate)).toBe('missed');
    }
  });
});

test('a target whose ratio depends on the machine has the room that it names', () => {
  const first = measurementOf({ ratios: [2, 2, 2], limit: 1_000 });
  const target = { ...first.target, unit: '% of a core' };
  expect(gateFrom({ ...first, target }, summarize(first))).toBe(2.2);
  expect(gateFrom({ ...first, target: { ...target, gateRoomShare: 1 } }, summarize(first))).toBe(4);
});

test('a run meets the gates that it sets, though they have three digits', () => {
  for (const ratio of [0.6664, 1.3004, 1.3006, 15.1234, 151.234]) {
    const first = measurementOf({ ratios: [ratio, ratio], limit: 8_000 });
    const gate = gateFrom(first, summarize(first));
    expect(judged(first, gate)).toBe('met');
    expect(gate / ratio).toBeLessThan(1.02);
  }
});

test('a goal is missed by the worse end of the interval', () => {
  const measurement = measurementOf({ ratios: [1, 1.2], goal: 1.1 });
  expect(missesGoal(measurement.target, summarize(measurement))).toBe(true);
});

test('quantiles are interpolated, and the same figures give the same interval', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3, 4, 5], 0.9)).toBeCloseTo(4.6);
  const values = [1.02, 1.05, 1.01, 1.3, 1.04, 1.03, 1.06, 1.02, 1.05, 1.04];
  const interval = medianInterval(values);
  expect(interval).toEqual(medianInterval(values));
  expect(interval.low).toBeGreaterThanOrEqual(1.01);
  expect(interval.high).toBeLessThan(1.3);
});

test('intervals overlap if they share a value', () => {
  expect(overlaps({ low: 1, high: 2 }, { low: 2, high: 3 })).toBe(true);
  expect(overlaps({ low: 1, high: 2 }, { low: 2.1, high: 3 })).toBe(false);
});

describe('noise', () => {
  const quiet = { at: 0, stealTicks: 0, pressureUs: 0, otherTicks: 100 };

  test('is what other programs and the hypervisor use during the iteration', () => {
    const after = { at: 2_000, stealTicks: 0, pressureUs: 500_000, otherTicks: 130 };
    expect(noiseBetween(quiet, after)).toEqual({ otherCpus: 0.15, steal: 0, pressure: 0.25 });
    expect(noiseBetween(quiet, { ...after, otherTicks: 90 }).otherCpus).toBe(0);
    const { steal } = noiseBetween(quiet, { ...after, stealTicks: 40 * cpus().length });
    expect(steal).toBeCloseTo(0.2);
  });

  test.each([
    { otherCpus: 0.1, steal: 0.1, noisy: false },
    { otherCpus: 0.11, steal: 0, noisy: true },
    { otherCpus: 0, steal: 0.11, noisy: true },
  ])('of $otherCpus CPUs and $steal steal is too much: $noisy', ({ noisy, ...noise }) => {
    expect(isNoisy({ ...noise, pressure: 0 })).toBe(noisy);
  });

  test('leaves out the bench, its children and the servers of the service', () => {
    const one = (pid: number, parent: number, name: string) => ({ pid, parent, name, ticks: pid });
    const processes = [
      one(1, 0, 'systemd'),
      one(2, 0, 'kthreadd'),
      one(3, 2, 'kworker/0:1'),
      one(10, 1, 'npm'),
      one(11, 10, 'node'),
      one(12, 11, 'node'),
      one(20, 1, 'postgres'),
      one(21, 1, 'containerd-shim'),
      one(22, 21, 'entry'),
      one(30, 1, 'cc1'),
      one(31, 10, 'tsc'),
    ];
    expect(ticksOfOthers(processes, 11)).toBe(1 + 30 + 31);
  });
});

test('a server that does not sync its commits is refused', () => {
  const settings = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
  expect(() => requireDurability(settings)).not.toThrow();
  expect(() => requireDurability({ ...settings, fsync: 'off' })).toThrow(/fsync set to on/);
});
