import type { Environment } from './environment.ts';
import { type Gates, measurementsOf, type Results } from './results.ts';
import {
  type Measurement,
  missesGoal,
  type Summary,
  summarize,
  type Verdict,
  verdictOf,
} from './verdict.ts';

/** One target of a run with everything that a report shows. */
export interface Row {
  measurement: Measurement;
  summary: Summary;
  gate: number | undefined;
  verdict: Verdict;
  missesGoal: boolean;
}

export function rowsOf(results: Results, gates: Gates): Row[] {
  return measurementsOf(results).map((measurement) => rowOf(measurement, gates));
}

function rowOf(measurement: Measurement, gates: Gates): Row {
  const summary = summarize(measurement);
  const gate = gates[measurement.target.id];
  return {
    measurement,
    summary,
    gate,
    verdict: verdictOf(measurement, summary, gate),
    missesGoal: missesGoal(measurement.target, summary),
  };
}

/** For the screen: the ratio first, the absolute figures behind it. */
export function tableText(rows: Row[]): string {
  const cells = rows.map((row) => {
    const { counted, noisy } = row.summary;
    return [...cellsOf(row), `${counted}, ${noisy} noisy`, row.verdict];
  });
  return columns([[...headings, 'iterations', 'verdict'], ...cells]);
}

/** For latest.md. A ratio that misses its goal is bold. */
export function markdownTable(rows: Row[]): string {
  const head = ['', 'measured', ...headings.slice(1), 'iterations', 'verdict'];
  const lines = rows.map((row) => {
    const [id = '', ratio = '', ...others] = cellsOf(row);
    const { counted, noisy } = row.summary;
    const shown = row.missesGoal ? `**${ratio}**` : ratio;
    const { title } = row.measurement.target;
    return [id, title, shown, ...others, `${counted}, ${noisy} noisy`, row.verdict];
  });
  return markdown([head, head.map(() => '---'), ...lines]);
}

/** For the README: fewer columns, and the selected targets only. */
export function readmeTable(rows: Row[]): string {
  const head = ['', 'ratio (95 %)', 'Flowrun', 'limit'];
  const lines = rows.map((row) => {
    const [, ratio = '', ours = '', , limit = ''] = cellsOf(row);
    const { target } = row.measurement;
    const shown = row.missesGoal ? `**${ratio}**` : ratio;
    return [`${target.title} (${target.id})`, shown, ours, limit];
  });
  return markdown([head, head.map(() => '---'), ...lines]);
}

export function environmentTable(environment: Environment): string {
  const lines = Object.entries(environment).map(([name, value]) => [name, String(value)]);
  return markdown([['environment', ''], ['---', '---'], ...lines]);
}

const headings = ['target', 'ratio (95 %)', 'ours p50', 'p95', 'limit p50', 'p95', 'goal', 'gate'];

function cellsOf({ measurement: { target }, summary, gate }: Row): string[] {
  const { ratio, interval, ours, limit } = summary;
  const bound = target.better === 'less' ? '≤' : '≥';
  return [
    target.id,
    `${three(ratio)} (${three(interval.low)}–${three(interval.high)})`,
    `${three(ours.p50)} ${target.unit}`,
    three(ours.p95),
    `${three(limit.p50)} ${target.unit}`,
    three(limit.p95),
    `${bound} ${target.goal}`,
    gate === undefined ? '–' : `${bound} ${gate}`,
  ];
}

/** Left-aligned columns, separated by two blanks. */
function columns(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

const markdown = (rows: string[][]): string =>
  rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Rounds to three significant digits. */
export function three(value: number): string {
  if (!Number.isFinite(value)) return 'unknown';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return digits === 0 ? Math.round(value).toLocaleString('en') : value.toFixed(Math.min(digits, 6));
}
