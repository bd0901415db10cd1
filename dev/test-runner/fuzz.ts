// Ten times as many hostile requests as `npm test` sends, on a stack of their own.

import { join } from 'node:path';
import { runOnTestStack } from './test-stack-runner.ts';
import { runTests } from './test-steps.ts';

const requests = process.env.FUZZ_REQUESTS ?? '100000';

await runOnTestStack('fuzz', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'fuzz.json');
  const args = ['test/integration/api/fuzz', ...process.argv.slice(2)];
  return [await runTests({ env: { ...env, FUZZ_REQUESTS: requests }, resultFile, args, signal })];
});
