// `npm run test:openapi` runs an independent fuzzer against the OpenAPI document, on a fresh
// stack.

import { join } from 'node:path';
import { exitWithError } from '../../lib/setup-error.ts';
import { runTests } from '../run-tests.ts';
import { runOnTestStack } from '../test-stack-runner.ts';
import { ensureSchemathesis } from './schemathesis.ts';

// Before the stack starts, which takes longer.
const program = await ensureSchemathesis().catch(exitWithError);
await runOnTestStack('openapi', async ({ folders, env, signal }) => {
  const resultFile = join(folders.data, 'openapi.json');
  const args = ['--project', 'openapi', ...process.argv.slice(2)];
  return [await runTests({ env: { ...env, SCHEMATHESIS: program }, resultFile, args, signal })];
});
