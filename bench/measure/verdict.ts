import type { Target } from './scenario.ts';
import type { Interval } from './statistics.ts';

export type Verdict = 'goal met' | 'gate met' | 'above gate' | 'below gate' | 'inconclusive';

const narrowShare = 0.07;
/** Fewer say nothing, whatever they say. */
const iterationsNeeded = 15;
const generatorMost = 0.9;

/** What fails the command. What could not be told fails nothing. */
export const isMissed = (verdict: Verdict): boolean =>
  verdict === 'above gate' || verdict === 'below gate';

export interface Measured {
  ratio: number;
  interval: Interval;
  /** Iterations that count. */
  count: number;
  generatorShare: number | null;
}

/** Within ±7 % of the median. */
export function isNarrow(ratio: number, { low, high }: Interval): boolean {
  return Math.max(high - ratio, ratio - low) <= ratio * narrowShare;
}

/**
 * Judged by the worse end of the interval, never by the median alone. A wide interval fails nothing:
 * it says that the machine was too restless to tell, unless even its better end is beyond the gate.
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
