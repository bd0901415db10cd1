// Every check there is, on a stack of its own: format, lint, types, then all tests. The stack is ended
// afterwards unless FLOWRUN_KEEP=1. Ends with one line that counts.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from './background.ts';
import { failWith } from './failure.ts';
import { type Folders, foldersOf } from './folders.ts';
import { withStackLock } from './lock.ts';
import { say } from './progress.ts';
import { stopStack } from './stop-stack.ts';
import { ensureTestStack } from './test-stack.ts';
import { runChecks, runTests, type Tally } from './test-steps.ts';

const stack = 'test';

await withStackLock(stack, testAll).then(report).catch(failWith);

async function testAll(): Promise<Tally[]> {
  const folders = freshFolders();
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end.abort());
  try {
    const env = await ensureTestStack(folders);
    const run = { args: process.argv.slice(2), signal: end.signal };
    const checks = await runChecks(run.signal);
    const resultFile = join(folders.data, 'tests.json');
    return [checks, await runTests({ ...run, env, resultFile })];
  } finally {
    if (process.env.FLOWRUN_KEEP !== '1') await stopStack(stack);
  }
}

/** Nothing of an earlier run is left, but where its servers were kept up on purpose. */
function freshFolders(): Folders {
  const folders = foldersOf(stack);
  if (['postgres', 'redis', 'temporal'].some((part) => isRunning(folders, part))) return folders;
  rmSync(folders.data, { recursive: true, force: true });
  return foldersOf(stack);
}

function report(tallies: Tally[]): void {
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
  say(`\n${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
