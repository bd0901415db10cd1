// `npm run test:fuzz` sends ten times as many hostile requests as `npm test`, on a stack of its
// own.

import { join } from 'node:path';
import { runTests } from './run-tests.ts';
import { runOnTestStack } from './test-stack-runner.ts';

const requests = process.env.FUZZ_REQUESTS ?? '100000';

await runOnTestStack('fuzz', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'fuzz.json');
  const args = ['test/integration/api/fuzz', ...process.argv.slice(2)];
  return [await runTests({ env: { ...env, FUZZ_REQUESTS: requests }, resultFile, args, signal })];
});
