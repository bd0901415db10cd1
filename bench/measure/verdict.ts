import type { Target } from './scenario.ts';
import type { Interval } from './statistics.ts';

export type Verdict = 'goal met' | 'gate met' | 'above gate' | 'below gate' | 'inconclusive';

const narrowShare = 0.07;
/** With fewer iterations, every verdict is inconclusive. */
const iterationsNeeded = 15;
const generatorMost = 0.9;

/** Whether the result fails the command. An inconclusive result does not. */
export const isMissed = (verdict: Verdict): boolean =>
  verdict === 'above gate' || verdict === 'below gate';

export interface Measured {
  ratio: number;
  interval: Interval;
  /** The number of counted iterations. */
  count: number;
  generatorShare: number | null;
}

/** Whether the interval is within ±7 % of the median. */
export function isNarrow(ratio: number, { low, high }: Interval): boolean {
  return Math.max(high - ratio, ratio - low) <= ratio * narrowShare;
}

/**
 * Compares the worse end of the interval, not the median, with the bounds. A wide interval is
 * inconclusive, because the machine was too noisy, unless even its better end is beyond the gate.
 */
export function verdictOf(
  { better, goal, gate }: Pick<Target, 'better' | 'goal' | 'gate'>,
  { ratio, interval, count, generatorShare }: Measured,
): Verdict {
  if (count < iterationsNeeded || (generatorShare ?? 0) > generatorMost) return 'inconclusive';
  const [best, worst] =
    better === 'less' ? [interval.low, interval.high] : [interval.high, interval.low];
  const meets = (value: number, bound: number): boolean =>
    better === 'less' ? value <= bound : value >= bound;
  if (meets(worst, goal)) return 'goal met';
  if (meets(worst, gate)) return 'gate met';
  const isFailed = !meets(best, gate) || isNarrow(ratio, interval);
  if (!isFailed) return 'inconclusive';
  return better === 'less' ? 'above gate' : 'below gate';
}
