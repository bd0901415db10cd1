// Brings the stack up and stays in front with the service's log. Ctrl-C ends the service; what stands
// under it goes on, so that the next start is quick.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DemoStack, ensureDemoStack } from '../demo/demo-stack.ts';
import { print } from '../lib/progress.ts';
import { exitWithError, SetupError } from '../lib/setup-error.ts';
import { commandHint } from './command-hint.ts';
import { isRunning } from './daemon.ts';
import { stopService } from './service.ts';

await runInForeground().catch(exitWithError);

async function runInForeground(): Promise<void> {
  const stack = await ensureDemoStack();
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());
  print(`\nAPI            ${stack.env.PUBLIC_URL}`);
  if (stack.env.TEMPORAL_UI_URL) print(`Temporal UI    ${stack.env.TEMPORAL_UI_URL}`);
  print(`Ctrl-C ends the service; ${commandHint('npm run stop')} ends everything.\n`);
  const endedProcess = await followLogs(stack, end.signal);
  await stopService(stack.folders);
  if (endedProcess !== undefined)
    throw new SetupError(`The ${endedProcess} has ended by itself; see above.`);
  print('\nThe service has ended. Postgres, Redis, Temporal and Docker go on.');
  print(`${commandHint('npm run stop')} ends them.`);
}

/** Shows the logs until the reader has had enough or one of the two processes is gone. */
async function followLogs(stack: DemoStack, signal: AbortSignal): Promise<string | undefined> {
  const { folders } = stack;
  const files = ['api', 'worker'].map((name) => join(folders.logs, `${name}.log`));
  const tail = spawn('tail', ['-q', '-n', '+1', '-F', ...files], {
    stdio: ['ignore', 'inherit', 'ignore'],
    detached: true,
  });
  try {
    while (!signal.aborted) {
      const endedProcess = ['api', 'worker'].find((name) => !isRunning(folders, name));
      if (endedProcess !== undefined) return endedProcess;
      await sleep(500, undefined, { signal }).catch(() => {});
    }
    return undefined;
  } finally {
    tail.kill();
  }
}
