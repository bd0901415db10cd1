import type { Comparison, Iteration } from '../measure/compare.ts';
import { median, summaryOf } from '../measure/statistics.ts';

/** One block per target: the verdict first, then its figures. */
export function comparisonText(comparison: Comparison): string {
  const { target, ratio, interval, verdict, counted, discarded, generatorShare } = comparison;
  const bound = target.better === 'less' ? '≤' : '≥';
  const spread = `${two(interval.low)}–${two(interval.high)}`;
  const counts = `n ${counted.length}, ${discarded.length} discarded`;
  return [
    `${target.id}  ${target.title}`,
    `    ratio ${two(ratio)} (95 %: ${spread})  goal ${bound} ${target.goal}, gate ${bound} ${target.gate}  ${verdict.toUpperCase()}  (${counts})`,
    `    ours   ${figures(counted, 'ours', target.unit)}`,
    `    limit  ${figures(counted, 'limit', target.unit)}`,
    ...(generatorShare === null ? [] : [`    readers took ${two(generatorShare)} of a CPU`]),
  ].join('\n');
}

/** All targets on one screen. */
export function summaryText(comparisons: Comparison[]): string {
  const rows = comparisons.map(({ target, ratio, interval, verdict, counted, discarded }) => [
    target.id,
    two(ratio),
    `${two(interval.low)}–${two(interval.high)}`,
    String(target.goal),
    String(target.gate),
    String(counted.length),
    String(discarded.length),
    verdict,
  ]);
  const head = ['', 'ratio', '95 %', 'goal', 'gate', 'n', 'discarded', 'verdict'];
  return columns([head, ...rows]);
}

/** Left-aligned columns, separated by two blanks. */
export function columns(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

function figures(iterations: Iteration[], side: 'ours' | 'limit', unit: string): string {
  const samples = iterations.flatMap((iteration) => iteration[side]);
  const { min, p50, p90, p95 } = summaryOf(samples.map(({ value }) => value));
  const also = Object.keys(samples[0]?.also ?? {}).map((name) => {
    const values = samples.map((sample) => sample.also?.[name] ?? Number.NaN);
    return `${name} ${three(median(values))}`;
  });
  const main = `p50 ${three(p50)} ${unit} (min ${three(min)}, p90 ${three(p90)}, p95 ${three(p95)})`;
  return also.length === 0 ? main : `${main}  ${also.join(', ')}`;
}

const two = (value: number): string => value.toFixed(2);

/** Rounds to three significant digits. */
export function three(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(3);
}
