// `npm run counters` measures how many calls the service makes for a run, a turn and an idle
// minute, and writes them to test/system/counters/expected-counters.json.

import { join } from 'node:path';
import { exitWithError } from '../lib/setup-error.ts';
import { runTests } from './run-tests.ts';
import { runOnReusedStack } from './test-stack-runner.ts';

await runOnReusedStack(async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'counters.json');
  const args = ['test/system/counters/counters.test.ts', ...process.argv.slice(2)];
  return [await runTests({ env: { ...env, ACCEPT_COUNTERS: '1' }, resultFile, args, signal })];
}).catch(exitWithError);
