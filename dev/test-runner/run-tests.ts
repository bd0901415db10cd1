import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { runInForeground } from './run-in-foreground.ts';
import type { Tally } from './tally.ts';

interface TestRun {
  /** The headline. */
  title?: string;
  env?: Record<string, string>;
  /** Where vitest writes its result as JSON. */
  resultFile: string;
  /** More arguments of vitest. */
  args: string[];
  signal: AbortSignal;
  /** A command that runs vitest elsewhere, such as in another network namespace. */
  prefix?: readonly string[];
}

export async function runTests(run: TestRun): Promise<Tally> {
  const { title = 'tests', env = {}, resultFile, args, signal, prefix = [] } = run;
  print(`\n── ${title}`);
  rmSync(resultFile, { force: true });
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultFile}`];
  const line = [...prefix, process.execPath, vitest, 'run', ...reporters, ...args];
  const [command = process.execPath, ...rest] = line;
  const code = await runInForeground(command, rest, { env, signal });
  const { passed, failed } = readResult(resultFile);
  // A file that cannot be loaded fails the run without a failed test: it counts as one.
  return { passed, failed: code === 0 ? failed : Math.max(failed, 1) };
}

function readResult(file: string): Tally {
  try {
    const result: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const { numPassedTests = 0, numFailedTests = 0 } = result as Partial<Record<string, number>>; // vitest's own
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
