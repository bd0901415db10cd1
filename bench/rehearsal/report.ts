import type { Cost } from './costs.ts';
import { type OfParts, type PartName, partNames } from './parts.ts';

export interface MemoryRow {
  title: string;
  mib: OfParts<number>;
}

interface Rehearsal {
  costs: Cost[];
  memory: MemoryRow[];
}

const coreMs = 1_000;
/** Less counts as 0. */
const leastMs = 0.01;

/** Returns tables in Markdown. */
export function reportOf({ costs, memory }: Rehearsal): string {
  const cpu = ['milliseconds of CPU for', ...partNames];
  const counts = ['for', 'statements', 'commits', 'Redis commands'];
  return [
    markdown([
      cpu,
      ...costs.map(({ title, cpuMs }) => [title, ...partNames.map((part) => three(cpuMs[part]))]),
    ]),
    markdown([
      counts,
      ...costs.map(({ title, statements, commits, redisCommands }) => [
        title,
        ...[statements, commits, redisCommands].map(three),
      ]),
    ]),
    markdown([
      ['MiB of memory', ...partNames],
      ...memory.map(({ title, mib }) => [title, ...partNames.map((part) => three(mib[part]))]),
    ]),
    ...costs.map(saturationOf),
  ].join('\n\n');
}

/** The part that needs the most CPU is the first to fill a core. */
function saturationOf({ title, cpuMs }: Cost): string {
  const isMinute = title.startsWith('a minute');
  const shown = ([part, ms]: [PartName, number]): string =>
    `${part} ${three((isMinute ? 60 : 1) * (coreMs / ms))}`;
  const parts = partNames
    .map((part): [PartName, number] => [part, cpuMs[part]])
    .filter(([, ms]) => ms > leastMs)
    .sort(([, one], [, other]) => other - one);
  const rate = isMinute ? 'at a time' : 'per second';
  return `${title}: number ${rate} that fills a core: ${parts.map(shown).join(', ')}`;
}

function markdown(rows: string[][]): string {
  const [head = [], ...others] = rows;
  return [head, head.map(() => '---'), ...others].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Three significant digits, without an exponent. */
const three = (value: number): string => String(Number(value.toPrecision(3)));
