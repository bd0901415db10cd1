// A stack of its own for tests: brought up anew, ended afterwards unless FLOWRUN_KEEP=1. What was
// tested is counted in one last line.

import { rmSync } from 'node:fs';
import { type Folders, foldersOf } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { isRunning } from '../stack/daemon.ts';
import { withStackLock } from '../stack/lock.ts';
import { stopStack } from '../stack/stop-stack.ts';
import { ensureTestStack } from './test-stack.ts';
import type { Tally } from './test-steps.ts';

export interface TestStack {
  folders: Folders;
  /** What test/support/stack-env.ts reads. */
  env: Record<string, string>;
  /** Aborted by Ctrl-C: the stack is still ended in order. */
  signal: AbortSignal;
}

export async function runOnTestStack(
  stack: string,
  work: (stack: TestStack) => Promise<Tally[]>,
): Promise<void> {
  await withFreshStack(stack, work).then(report).catch(exitWithError);
}

/** Nobody else uses a stack of that name meanwhile. */
export function withFreshStack<T>(
  stack: string,
  work: (stack: TestStack) => Promise<T>,
): Promise<T> {
  return withStackLock(stack, () => bringUp(stack, work));
}

async function bringUp<T>(stack: string, work: (stack: TestStack) => Promise<T>): Promise<T> {
  const folders = freshFolders(stack);
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end.abort());
  try {
    const env = await ensureTestStack(folders);
    return await work({ folders, env, signal: end.signal });
  } finally {
    if (process.env.FLOWRUN_KEEP !== '1') await stopStack(stack);
  }
}

/** Nothing of an earlier run is left, but where its servers were kept up on purpose. */
function freshFolders(stack: string): Folders {
  const folders = foldersOf(stack);
  if (['postgres', 'redis', 'temporal'].some((part) => isRunning(folders, part))) return folders;
  rmSync(folders.data, { recursive: true, force: true });
  return foldersOf(stack);
}

function report(tallies: Tally[]): void {
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
  print('');
  for (const { note: said } of tallies) if (said !== undefined) print(said);
  print(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
