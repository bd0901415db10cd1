import { print } from '../lib/progress.ts';
import { runInForeground } from './run-in-foreground.ts';
import type { Tally } from './tally.ts';

const scripts = ['format:check', 'lint', 'typecheck'];

/** Runs format, lint and types. Each counts as one check. */
export async function runStaticChecks(signal: AbortSignal): Promise<Tally> {
  const tally = { passed: 0, failed: 0 };
  for (const script of scripts) {
    print(`\n── ${script}`);
    const code = await runInForeground('npm', ['run', '--silent', script], { signal });
    if (code === 0) tally.passed += 1;
    else tally.failed += 1;
  }
  return tally;
}
