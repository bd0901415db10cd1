import { rmSync } from 'node:fs';
import { type Folders, foldersOf } from '../lib/folders.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { commandHint } from '../stack/command-hint.ts';
import { isRunning } from '../stack/daemon.ts';
import { withStackLock } from '../stack/lock.ts';
import { stackNames } from '../stack/stack-names.ts';
import { stopStack } from '../stack/stop-stack.ts';
import { abortOnSignals } from './run-in-foreground.ts';
import { reportTallies, type Tally } from './tally.ts';
import { ensureTestStack } from './test-stack.ts';

export interface TestStack {
  folders: Folders;
  /** The variables of `ensureTestStack`. */
  env: Record<string, string>;
  /** Aborted by Ctrl-C. The stack still stops in order. */
  signal: AbortSignal;
}

type Work<T> = (stack: TestStack) => Promise<T>;

/** Runs tests on a fresh stack and reports their sums. */
export async function runOnTestStack(name: string, work: Work<Tally[]>): Promise<void> {
  await withFreshStack(name, work).then(reportTallies).catch(exitWithError);
}

/** Runs tests on the stack that stays up, and starts it first if it is not running. */
export async function runOnReusedStack(work: Work<Tally[]>): Promise<void> {
  const signal = abortOnSignals();
  const folders = foldersOf(stackNames.testFiles);
  const env = await withStackLock(stackNames.testFiles, () => ensureTestStack(folders));
  const tallies = await work({ folders, env, signal });
  const note = `The stack stays up for the next test; ${commandHint('npm run stop')} stops it.`;
  reportTallies([...tallies, { passed: 0, failed: 0, note }]);
}

/** Locks the name, so that no other command uses the stack. FLOWRUN_KEEP=1 leaves it running. */
export function withFreshStack<T>(
  name: string,
  work: Work<T>,
  temporal?: { inMemory: boolean },
): Promise<T> {
  return withStackLock(name, async () => {
    const folders = freshFolders(name);
    const signal = abortOnSignals();
    try {
      const env = await ensureTestStack(folders, temporal);
      return await work({ folders, env, signal });
    } finally {
      if (process.env.FLOWRUN_KEEP !== '1') await stopStack(name);
    }
  });
}

/** Deletes the data of an earlier run, unless FLOWRUN_KEEP=1 has left its servers running. */
function freshFolders(name: string): Folders {
  const folders = foldersOf(name);
  if (['postgres', 'redis', 'temporal'].some((server) => isRunning(folders, server)))
    return folders;
  rmSync(folders.data, { recursive: true, force: true });
  return foldersOf(name);
}
