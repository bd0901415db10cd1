import { SetupError } from '../../dev/lib/setup-error.ts';
import { kindOf, measurementsOf, type Results } from './results.ts';
import { type Interval, overlaps } from './statistics.ts';
import { summarize } from './verdict.ts';

export interface Agreement {
  id: string;
  a: Interval;
  b: Interval;
  /** The intervals overlap. */
  agrees: boolean;
}

/** Throws if the files are of different environments, or have no target in common. */
export function compareResults(first: Results, second: Results): Agreement[] {
  if (kindOf(first) !== kindOf(second)) {
    throw new SetupError(`Not comparable: ${kindOf(first)} and ${kindOf(second)}.`);
  }
  const others = new Map(
    measurementsOf(second).map((each) => [each.target.id, summarize(each).interval]),
  );
  const agreements = measurementsOf(first).flatMap((each) => {
    const b = others.get(each.target.id);
    if (b === undefined) return [];
    const a = summarize(each).interval;
    return [{ id: each.target.id, a, b, agrees: overlaps(a, b) }];
  });
  if (agreements.length === 0) throw new SetupError('The files have no target in common.');
  return agreements;
}
