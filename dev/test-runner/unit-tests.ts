import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from './run-tests.ts';
import type { Tally } from './tally.ts';

/** Runs tests that need no stack. */
export async function runUnitTests(args: string[], signal: AbortSignal): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'flowrun-unit-'));
  const resultFile = join(folder, 'tests.json');
  // Tests start the same programs many times. Without the cache, each start parses its sources
  // again.
  const env = { NODE_COMPILE_CACHE: join(folder, 'compiled') };
  try {
    return await runTests({ env, resultFile, args: ['--project', 'unit', ...args], signal });
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 5 });
  }
}
