// Measures the service against its limits, on a separate stack. Only one bench may run at a time,
// because two would disturb each other. The exit code is 1 if a target is missed. Arguments are
// checked before anything is started.

import { join } from 'node:path';
import { repository } from '../dev/lib/folders.ts';
import { exitWithError } from '../dev/lib/setup-error.ts';
import { runInForeground } from '../dev/test-runner/run-in-foreground.ts';
import { withFreshStack } from '../dev/test-runner/test-stack-runner.ts';
import { readArguments } from './arguments.ts';
import { knownIds } from './targets.ts';

const program = join(repository, 'bench/main.ts');

await bench(process.argv.slice(2)).catch(exitWithError);

async function bench(args: string[]): Promise<void> {
  readArguments(args, knownIds);
  const code = await withFreshStack('bench', ({ env, signal }) =>
    runInForeground(process.execPath, [program, ...args], { env, signal }),
  );
  process.exitCode = code === 0 ? 0 : 1;
}
