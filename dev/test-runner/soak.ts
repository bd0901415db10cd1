// The long tests, on a stack of their own: what is right a hundred times is to be right for hours.

import { join } from 'node:path';
import { stopFaultTestServers } from './fault-test-servers.ts';
import { runOnTestStack } from './test-stack-runner.ts';
import { runTests } from './test-steps.ts';

await runOnTestStack('soak', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'soak.json');
  const args = ['--project', 'soak', ...process.argv.slice(2)];
  try {
    return [await runTests({ env, resultFile, args, signal })];
  } finally {
    await stopFaultTestServers();
  }
});
