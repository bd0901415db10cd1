// The fault tests, on a stack of their own: parts of the service and of what stands under it are
// killed, frozen and lost, and every promise is checked afterwards.

import { join } from 'node:path';
import { stopFaultTestServers } from './fault-test-servers.ts';
import { runOnTestStack } from './test-stack-runner.ts';
import { runTests } from './test-steps.ts';

await runOnTestStack('faults', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'faults.json');
  const args = ['--project', 'faults', ...process.argv.slice(2)];
  try {
    return [await runTests({ env, resultFile, args, signal })];
  } finally {
    await stopFaultTestServers();
  }
});
