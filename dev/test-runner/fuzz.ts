// `npm run test:fuzz` sends many more hostile requests than `npm test`, and others each time, on a
// fresh stack. FUZZ_SEED repeats a failure.

import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { runTests } from './run-tests.ts';
import { runOnTestStack } from './test-stack-runner.ts';

const requests = process.env.FUZZ_REQUESTS ?? '100000';
const seed = process.env.FUZZ_SEED ?? String(randomInt(2 ** 31));

await runOnTestStack('fuzz', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'fuzz.json');
  const args = ['test/integration/api/fuzz', ...process.argv.slice(2)];
  const chosen = { FUZZ_REQUESTS: requests, FUZZ_SEED: seed };
  return [await runTests({ env: { ...env, ...chosen }, resultFile, args, signal })];
});
