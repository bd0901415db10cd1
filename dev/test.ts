// Every check there is, on a stack of its own: format, lint, types, then all tests.

import { join } from 'node:path';
import { onTestStack } from './checked-stack.ts';
import { ensureBrowser } from './parts/browser.ts';
import { runChecks, runTests } from './test-steps.ts';

await onTestStack('test', async ({ folders, env, signal }) => {
  const checks = await runChecks(signal);
  const resultFile = join(folders.data, 'tests.json');
  const withBrowser = { ...env, TEST_BROWSER: await ensureBrowser() };
  const args = process.argv.slice(2);
  return [checks, await runTests({ env: withBrowser, resultFile, args, signal })];
});
