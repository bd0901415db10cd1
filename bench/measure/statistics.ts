export interface Interval {
  low: number;
  high: number;
}

interface Summary {
  min: number;
  p50: number;
  p90: number;
  p95: number;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Between two neighbours the value lies in proportion. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

export function summaryOf(values: readonly number[]): Summary {
  return {
    min: quantile(values, 0),
    p50: quantile(values, 0.5),
    p90: quantile(values, 0.9),
    p95: quantile(values, 0.95),
  };
}

const resamples = 4_000;
const confidence = 0.95;

/**
 * Where the median would lie if the same measurement were made again, by drawing from what was
 * measured. The draw is seeded: the same figures give the same interval.
 */
export function medianInterval(values: readonly number[]): Interval {
  const random = seededRandom(values.length);
  const draw = (): number => values[Math.floor(random() * values.length)] ?? Number.NaN;
  const medians = Array.from({ length: resamples }, () => median(values.map(draw)));
  const tail = (1 - confidence) / 2;
  return { low: quantile(medians, tail), high: quantile(medians, 1 - tail) };
}

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
