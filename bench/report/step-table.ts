import { quantile } from '../measure/statistics.ts';
import { columns } from './table.ts';

interface Step<Name extends string> {
  name: Name;
  what: string;
}

/** Renders step durations. Each timestamp is in milliseconds since the start of its run. */
export function stepTable<Name extends string>(
  steps: readonly Step<Name>[],
  runs: Record<Name, number>[],
): string {
  const rows = steps.map((step, index) => row(step, steps[index - 1], runs));
  const head = ['since POST', 'step', 'p90', 'step completed'];
  return columns([head, ...rows]).replaceAll(/^/gm, '    ');
}

/**
 * A step's own time is the difference to the previous step of the same run, because differences of
 * medians would be misleading.
 */
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
