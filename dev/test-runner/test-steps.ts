// The steps of `npm test`. Each shows its own output and is counted: a check is one, passed or failed.

import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';

export interface Tally {
  passed: number;
  failed: number;
  /** What is to be known beside the figures. */
  note?: string;
}

const checks = ['format:check', 'lint', 'typecheck'];

export async function runChecks(signal: AbortSignal): Promise<Tally> {
  const tally = { passed: 0, failed: 0 };
  for (const check of checks) {
    print(`\n── ${check}`);
    const code = await runInForeground('npm', ['run', '--silent', check], { signal });
    if (code === 0) tally.passed += 1;
    else tally.failed += 1;
  }
  return tally;
}

export interface TestRun {
  /** Its headline. */
  title?: string;
  env: Record<string, string>;
  /** Where the runner leaves its count. */
  resultFile: string;
  args: string[];
  signal: AbortSignal;
  /** What the runner is run by, where it is to be elsewhere than here. */
  prefix?: readonly string[];
}

export async function runTests({
  title: what = 'tests',
  env,
  resultFile,
  args,
  signal,
  prefix: within = [],
}: TestRun): Promise<Tally> {
  print(`\n── ${what}`);
  rmSync(resultFile, { force: true });
  const runner = join(repository, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultFile}`];
  const line = [...within, process.execPath, runner, 'run', ...reporters, ...args];
  const [command = process.execPath, ...rest] = line;
  const code = await runInForeground(command, rest, { env, signal });
  return countTests(resultFile, code === 0);
}

/** A runner that failed without a failed test (a file that cannot be loaded, say) counts as one. */
function countTests(resultFile: string, succeeded: boolean): Tally {
  const { passed, failed } = readCount(resultFile);
  return { passed, failed: succeeded ? failed : Math.max(failed, 1) };
}

function readCount(resultFile: string): Tally {
  try {
    const result: unknown = JSON.parse(readFileSync(resultFile, 'utf8'));
    const { numPassedTests = 0, numFailedTests = 0 } = result as Partial<Record<string, number>>; // vitest's own
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

/** Runs a program before the reader's eyes and returns its exit code; −1 where a signal ended it. */
export function runInForeground(
  command: string,
  args: string[],
  { env = {}, signal }: { env?: Record<string, string>; signal: AbortSignal },
): Promise<number> {
  if (signal.aborted) return Promise.resolve(-1);
  const child = spawn(command, args, {
    cwd: repository,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const end = () => child.kill('SIGTERM');
  signal.addEventListener('abort', end);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      signal.removeEventListener('abort', end);
      resolve(code ?? -1);
    });
  });
}
