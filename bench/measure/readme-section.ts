import type { Gates, Results } from './results.ts';
import { readmeTable, rowsOf } from './table.ts';

const begin = '<!-- bench:begin -->';
const end = '<!-- bench:end -->';
const shown = [
  ...['T1', 'T5-0', 'T5-800', 'T5-input', 'T7'],
  ...['T9', 'T15', 'T16', 'T18', 'T19-sleep'],
];

/** The README with the rows of these results between its markers. Null if it has no markers. */
export function replaceSection(readme: string, results: Results, gates: Gates): string | null {
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from === -1 || to < from) return null;
  const section = sectionOf(results, gates);
  return `${readme.slice(0, from)}${begin}\n${section}\n${readme.slice(to)}`;
}

function sectionOf(results: Results, gates: Gates): string {
  const rows = rowsOf(results, gates).filter(({ measurement }) =>
    shown.includes(measurement.target.id),
  );
  const { cores, cpu, docker, storageDriver, runtime, postgres, temporal } = results.environment;
  const where = [
    'The limit is the least that the task takes on this machine. Lower ratios are better, except for',
    `T9; bold ones miss their goal. T1 to T19 are the IDs in [all figures](bench/results/latest.md); [method](bench/README.md). Measured on ${cores} cores (${cpu}) with`,
    `Docker ${docker}, ${storageDriver}, ${runtime}, Postgres ${postgres} and Temporal ${temporal}.`,
  ];
  return [
    '![Ratios to bare limits](bench/results/latest.svg)\n',
    `${readmeTable(rows)}\n`,
    where.join('\n'),
  ].join('\n');
}
