// The long tests, on a stack of their own: what is right a hundred times is to be right for hours.

import { join } from 'node:path';
import { stopOwnParts } from './fault-test-servers.ts';
import { onTestStack } from './test-stack-runner.ts';
import { runTests } from './test-steps.ts';

await onTestStack('soak', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'soak.json');
  const args = ['--project', 'soak', ...process.argv.slice(2)];
  try {
    return [await runTests({ env, resultFile, args, signal })];
  } finally {
    await stopOwnParts();
  }
});
