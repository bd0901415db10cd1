// Processes that outlive the command that started them. A pid file names the process by its id and
// its start time, so that an id the kernel has given to somebody else is never taken for ours.

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Folders } from './folders.ts';
import { tail } from './run.ts';

export interface Background {
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Asked every 100 ms until it is true; the process is ended when it never becomes so. */
  ready: () => Promise<boolean>;
  readyWithinMs?: number;
}

export type Where = Pick<Folders, 'logs' | 'pids'>;

/** Starts a process and returns once it is ready; what it said is in `<logs>/<name>.log`. */
export async function startBackground(where: Where, what: Background): Promise<void> {
  const logFile = join(where.logs, `${what.name}.log`);
  const log = openSync(logFile, 'a', 0o600);
  const { name, command, args, ready, readyWithinMs = 60_000, ...how } = what;
  const child = spawn(command, args, { ...how, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = `it ended with ${code ?? signal}`;
  });
  child.unref();
  if (child.pid !== undefined) writePid(where, name, child.pid);
  const deadline = Date.now() + readyWithinMs;
  while (!(await ready())) {
    if (ended === undefined && Date.now() > deadline) ended = `not ready after ${readyWithinMs} ms`;
    if (ended !== undefined) {
      await stopBackground(where, name);
      throw new Error(`${name} did not start: ${ended}\n${tail(readFileSync(logFile, 'utf8'))}`);
    }
    await sleep(100);
  }
}

export function isRunning(where: Where, name: string): boolean {
  return livingPid(where, name) !== undefined;
}

/** Ends a process by a signal, by SIGKILL after `withinMs`; ending one that is gone changes nothing. */
export async function stopBackground(
  where: Where,
  name: string,
  { signal = 'SIGTERM' as NodeJS.Signals, withinMs = 20_000 } = {},
): Promise<boolean> {
  const pid = livingPid(where, name);
  if (pid !== undefined) {
    process.kill(pid, signal);
    const deadline = Date.now() + withinMs;
    while (livingPid(where, name) !== undefined) {
      if (Date.now() > deadline) process.kill(pid, 'SIGKILL');
      await sleep(50);
    }
  }
  rmSync(pidFile(where, name), { force: true });
  return pid !== undefined;
}

function livingPid(where: Where, name: string): number | undefined {
  const [pid, start] = readText(pidFile(where, name)).trim().split(' ');
  if (!pid || !start) return undefined;
  return startOf(Number(pid)) === start ? Number(pid) : undefined;
}

function writePid(where: Where, name: string, pid: number): void {
  writeFileSync(pidFile(where, name), `${pid} ${startOf(pid) ?? 'gone'}\n`);
}

function pidFile(where: Where, name: string): string {
  return join(where.pids, `${name}.pid`);
}

/** The boot and the tick a process started at; undefined for one that is gone or a zombie. */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (stat === '' || fields[0] === 'Z') return undefined;
  return `${readText('/proc/sys/kernel/random/boot_id').trim()}-${fields[19]}`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
