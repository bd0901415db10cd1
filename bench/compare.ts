// `npm run bench:compare -- A.json B.json` tells for each target whether the intervals of two runs
// overlap. The exit code is 1 if those of one target do not.

import { exitWithError, SetupError } from '../dev/lib/setup-error.ts';
import { type Agreement, compareResults } from './measure/agreement.ts';
import { readResults } from './measure/results.ts';
import { three } from './measure/table.ts';

try {
  compare(process.argv.slice(2));
} catch (error) {
  exitWithError(error);
}

function compare([fileA, fileB]: string[]): void {
  if (fileA === undefined || fileB === undefined) {
    throw new SetupError('Give two result files: npm run bench:compare -- A.json B.json');
  }
  const agreements = compareResults(readResults(fileA), readResults(fileB));
  for (const each of agreements) console.log(lineOf(each));
  if (agreements.some(({ agrees }) => !agrees)) process.exitCode = 1;
}

function lineOf({ id, a, b, agrees }: Agreement): string {
  const [first, second] = [a, b].map(({ low, high }) => `${three(low)}–${three(high)}`.padEnd(16));
  return `${id.padEnd(12)}  ${first}  ${second}  ${agrees ? 'agrees' : 'DIFFERS'}`;
}
