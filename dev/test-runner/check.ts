// `npm run check`: everything that needs no servers. Arguments go to vitest.

import { exitWithError } from '../lib/setup-error.ts';
import { abortOnSignals } from './run-in-foreground.ts';
import { runStaticChecks } from './static-checks.ts';
import { reportTallies, type Tally } from './tally.ts';
import { runUnitTests } from './unit-tests.ts';

await check().then(reportTallies).catch(exitWithError);

async function check(): Promise<Tally[]> {
  const signal = abortOnSignals();
  const checks = await runStaticChecks(signal);
  return [checks, await runUnitTests(process.argv.slice(2), signal)];
}
