import { isNoisy } from './noise.ts';
import type { Iteration } from './runner.ts';
import type { Target } from './scenario.ts';
import { type Interval, median, medianInterval, quantile } from './statistics.ts';

/** All figures of one target, as they are stored. */
export interface Measurement {
  target: Target;
  /** The scenario's fixed number of counted iterations, which the command line may override. */
  iterationsPlanned: number;
  iterations: Iteration[];
}

interface SideSummary {
  p50: number;
  p95: number;
}

export interface Summary {
  /** The median of the ratios within counted iterations. */
  ratio: number;
  interval: Interval;
  ours: SideSummary;
  limit: SideSummary;
  counted: number;
  noisy: number;
  generatorShare: number;
}

export type Verdict = 'met' | 'missed' | 'inconclusive' | 'no gate';

const generatorMost = 0.9;
const noisyMost = 0.25;

export function summarize({ target: { id }, iterations }: Measurement): Summary {
  const counted = iterations.filter(({ isWarmUp }) => !isWarmUp);
  const valuesOf = (side: 'ours' | 'limit'): number[] =>
    counted.flatMap((iteration) => iteration[side].map(({ values }) => values[id] ?? Number.NaN));
  const ratios = counted.map((iteration) => ratioOf(iteration, id));
  const shares = (['ours', 'limit'] as const).map((side) =>
    median(counted.flatMap((each) => each[side].map(({ generatorShare }) => generatorShare))),
  );
  return {
    ratio: median(ratios),
    interval: medianInterval(ratios),
    ours: sideOf(valuesOf('ours')),
    limit: sideOf(valuesOf('limit')),
    counted: counted.length,
    noisy: counted.filter(({ noise }) => isNoisy(noise)).length,
    generatorShare: Math.max(...shares),
  };
}

/** Of the sums of both samples of each side. */
export function ratioOf({ ours, limit }: Iteration, id: string): number {
  const sum = (samples: Iteration['ours']): number =>
    samples.reduce((total, { values }) => total + (values[id] ?? Number.NaN), 0);
  return sum(ours) / sum(limit);
}

/** Compares the worse end of the interval, not the median, with the gate. */
export function verdictOf(
  { target: { better }, iterationsPlanned }: Measurement,
  { interval, counted, noisy, generatorShare }: Summary,
  gate: number | undefined,
): Verdict {
  if (counted < iterationsPlanned || noisy > counted * noisyMost) return 'inconclusive';
  if (generatorShare > generatorMost) return 'inconclusive';
  if (gate === undefined) return 'no gate';
  const isMet = better === 'less' ? interval.high <= gate : interval.low >= gate;
  return isMet ? 'met' : 'missed';
}

/** By the worse end of the interval, as with the gate. */
export function missesGoal({ better, goal }: Target, { interval }: Summary): boolean {
  return better === 'less' ? interval.high > goal : interval.low < goal;
}

const roomMs = 10;
const roomShare = 0.1;

/**
 * The gate that a measurement sets for later ones: the worse end of its interval, with room for
 * 10 % of it or for 10 ms, whichever is less. So a delay of 20 ms always misses the gate. A target
 * whose ratio depends on the machine names a larger share.
 */
export function gateFrom({ target }: Measurement, { interval, limit }: Summary): number {
  const room = target.unit === 'ms' ? roomMs / limit.p50 : Number.POSITIVE_INFINITY;
  const worst = target.better === 'less' ? interval.high : interval.low;
  const margin = Math.min(worst * (target.gateRoomShare ?? roomShare), room);
  return target.better === 'less' ? outward(worst + margin, 1) : outward(worst - margin, -1);
}

/** Three significant digits, never on the stricter side: a run meets the gates that it sets. */
function outward(value: number, direction: 1 | -1): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  const units = direction === 1 ? Math.ceil(value / unit) : Math.floor(value / unit);
  return Number((units * unit).toPrecision(3));
}

const sideOf = (values: number[]): SideSummary => ({
  p50: quantile(values, 0.5),
  p95: quantile(values, 0.95),
});
