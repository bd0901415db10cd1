import { quantile } from '../measure/statistics.ts';
import { columns } from './table.ts';

interface Step<Name extends string> {
  name: Name;
  what: string;
}

/** Where the time of something goes; the moments of each are milliseconds since its beginning. */
export function stepTable<Name extends string>(
  steps: readonly Step<Name>[],
  runs: Record<Name, number>[],
): string {
  const rows = steps.map((step, index) => row(step, steps[index - 1], runs));
  const head = ['since POST', 'step', 'p90', 'what has happened'];
  return columns([head, ...rows]).replaceAll(/^/gm, '    ');
}

/** A step's own time runs from the step before it in the same run, so that medians stay honest. */
function row<Name extends string>(
  { name, what }: Step<Name>,
  before: Step<Name> | undefined,
  runs: Record<Name, number>[],
): string[] {
  const since = runs.map((run) => run[name]);
  const own = runs.map((run) => run[name] - (before === undefined ? 0 : run[before.name]));
  return [...[quantile(since, 0.5), quantile(own, 0.5), quantile(own, 0.9)].map(one), what];
}

const one = (ms: number): string => ms.toFixed(1).padStart(7);
