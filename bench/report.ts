// `npm run bench:report` writes latest.md and the charts from the newest committed runs, and the
// rows between the markers of the README. With --set-gates, the newest runs of each kind set its
// gates.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../dev/lib/folders.ts';
import { exitWithError, SetupError } from '../dev/lib/setup-error.ts';
import { chartOf } from './measure/chart.ts';
import { replaceSection } from './measure/readme-section.ts';
import {
  gatesOf,
  isAgainstPeers,
  kindOf,
  latestResults,
  publishedResults,
  type Results,
  resultsFolder,
  writeGates,
} from './measure/results.ts';
import { environmentTable, markdownTable, rowsOf } from './measure/table.ts';
import { gateFrom } from './measure/verdict.ts';

/** One run alone may have been made in a fast hour of a shared machine. */
const gateRuns = 2;

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
    const published = publishedResults();
    const kinds = all.filter((results) => !isAgainstPeers(results)).map(kindOf);
    writeGates(
      Object.fromEntries(
        kinds.map((kind) => [
          kind,
          gatesFrom(published.filter((results) => kindOf(results) === kind).slice(-gateRuns)),
        ]),
      ),
    );
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

/** The looser gate of each target. */
function gatesFrom(runs: readonly Results[]): Record<string, number> {
  const gates: Record<string, number> = {};
  for (const { measurement, summary } of runs.flatMap((results) => rowsOf(results, {}))) {
    const { id, better } = measurement.target;
    const gate = gateFrom(measurement, summary);
    const earlier = gates[id] ?? gate;
    gates[id] = better === 'less' ? Math.max(earlier, gate) : Math.min(earlier, gate);
  }
  return gates;
}
