// `npm run test:faults` kills, freezes and disconnects parts of the service and its servers, on a
// separate stack, and checks every guarantee afterwards.

import { join } from 'node:path';
import { stopFaultTestServers } from './fault-test-servers.ts';
import { ensurePython } from './python/ensure-python.ts';
import { runTests } from './run-tests.ts';
import { runOnTestStack } from './test-stack-runner.ts';

await runOnTestStack('faults', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'faults.json');
  const args = ['--project', 'faults', ...process.argv.slice(2)];
  try {
    const fullEnv = { ...env, TEST_PYTHON: await ensurePython() };
    return [await runTests({ env: fullEnv, resultFile, args, signal })];
  } finally {
    await stopFaultTestServers();
  }
});
