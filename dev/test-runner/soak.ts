// `npm run test:soak` runs the tests that take hours, on a separate stack.

import { join } from 'node:path';
import { stopFaultTestServers } from './fault-test-servers.ts';
import { runTests } from './run-tests.ts';
import { runOnTestStack } from './test-stack-runner.ts';

await runOnTestStack('soak', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'soak.json');
  const args = ['--project', 'soak', ...process.argv.slice(2)];
  try {
    return [await runTests({ env, resultFile, args, signal })];
  } finally {
    await stopFaultTestServers();
  }
});
