export interface Interval {
  low: number;
  high: number;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Interpolates linearly between two neighbours. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = (sorted.length - 1) * share;
  const below = sorted[Math.floor(rank)] ?? Number.NaN;
  const above = sorted[Math.ceil(rank)] ?? below;
  return below + (above - below) * (rank - Math.floor(rank));
}

const resamples = 4_000;
const confidence = 0.95;

/**
 * Bootstrap confidence interval of the median. Resampling is seeded, so that the same figures
 * always give the same interval.
 */
export function medianInterval(values: readonly number[]): Interval {
  const random = seededRandom(values.length);
  const draw = (): number => values[Math.floor(random() * values.length)] ?? Number.NaN;
  const medians = Array.from({ length: resamples }, () => median(values.map(draw)));
  const tail = (1 - confidence) / 2;
  return { low: quantile(medians, tail), high: quantile(medians, 1 - tail) };
}

export const overlaps = (a: Interval, b: Interval): boolean => a.low <= b.high && b.low <= a.high;

/** mulberry32 */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
