import { spawn } from 'node:child_process';
import { repository } from '../lib/folders.ts';

/**
 * Runs a program with this terminal's output. Returns its exit code, or -1 if a signal ended it.
 */
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
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      signal.removeEventListener('abort', stop);
      resolve(code ?? -1);
    });
  });
}

/** Aborts at Ctrl-C and SIGTERM, which then do not end this process. */
export function abortOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}
