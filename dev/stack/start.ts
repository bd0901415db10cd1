// `npm start` starts the stack and follows the service's log. Ctrl-C stops the service but not the
// servers it uses, so that the next start is quick.

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
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end.abort());
  print(`\nAPI            ${stack.env.PUBLIC_URL}`);
  if (stack.env.TEMPORAL_UI_URL) print(`Temporal UI    ${stack.env.TEMPORAL_UI_URL}`);
  print(`Ctrl-C stops the service; ${commandHint('npm run stop')} stops everything.\n`);
  const endedProcess = await followLogs(stack, end.signal);
  await stopService(stack.folders);
  if (endedProcess !== undefined)
    throw new SetupError(`The ${endedProcess} has exited; see its log above.`);
  print('\nThe service has stopped. Postgres, Redis, Temporal and Docker are still running.');
  print(`${commandHint('npm run stop')} stops them.`);
}

/** Shows the logs until Ctrl-C, or until a process has exited, whose name it returns. */
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
