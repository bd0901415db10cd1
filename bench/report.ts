// `npm run bench:report` writes latest.md and the charts from the newest committed runs, and the
// rows between the markers of the README. With --set-gates, each of those runs sets the gates of
// its kind.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../dev/lib/folders.ts';
import { exitWithError, SetupError } from '../dev/lib/setup-error.ts';
import { chartOf } from './measure/chart.ts';
import { replaceSection } from './measure/readme-section.ts';
import {
  gatesOf,
  kindOf,
  latestResults,
  type Results,
  resultsFolder,
  writeGates,
} from './measure/results.ts';
import { environmentTable, markdownTable, rowsOf } from './measure/table.ts';
import { gateFrom } from './measure/verdict.ts';

try {
  report(process.argv.slice(2));
} catch (error) {
  exitWithError(error);
}

function report(args: string[]): void {
  const all = latestResults();
  const [first] = all;
  if (first === undefined) throw new SetupError('There are no results yet: run `npm run bench`.');
  if (args.includes('--set-gates')) {
    writeGates(Object.fromEntries(all.map((results) => [kindOf(results), gatesFrom(results)])));
  }
  const parts = all.map((results, index) => section(results, chartName(index)));
  writeFileSync(join(resultsFolder, 'latest.md'), `# Measurements\n\n${parts.join('\n')}`);
  const readme = join(repository, 'README.md');
  const text = readFileSync(readme, 'utf8');
  const replaced = replaceSection(text, first, gatesOf(first));
  if (replaced !== null) writeFileSync(readme, replaced);
  console.log(`bench/results/latest.md${replaced === null ? '' : ' and README.md'} written.`);
}

function chartName(index: number): string {
  return index === 0 ? 'latest.svg' : `latest-${index + 1}.svg`;
}

function section(results: Results, chart: string): string {
  const rows = rowsOf(results, gatesOf(results));
  writeFileSync(join(resultsFolder, chart), chartOf(rows));
  const { environment, at } = results;
  return [
    `## ${kindOf(results)}\n`,
    `Started ${at.slice(0, 16).replace('T', ' ')} UTC. A ratio in bold misses its goal.\n`,
    `![Ratios](${chart})\n`,
    `${markdownTable(rows)}\n`,
    `${environmentTable(environment)}\n`,
  ].join('\n');
}

function gatesFrom(results: Results): Record<string, number> {
  const rows = rowsOf(results, {});
  return Object.fromEntries(
    rows.map(({ measurement, summary }) => [measurement.target.id, gateFrom(measurement, summary)]),
  );
}
