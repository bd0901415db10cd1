// Processes that outlive the command that started them. A pid file identifies a process by its id
// and start time, so that a reused id is never mistaken for the daemon.

import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Folders } from '../lib/folders.ts';
import { excerpt } from '../lib/run-command.ts';
import { SetupError } from '../lib/setup-error.ts';

interface DaemonOptions {
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Identifies the program and its settings. If it differs, `isRunning` returns false. */
  fingerprint?: string;
  /** Called every 100 ms until it returns true. After `readyTimeoutMs`, the process is stopped. */
  ready: () => Promise<boolean>;
  readyTimeoutMs?: number;
}

export type DaemonFolders = Pick<Folders, 'logs' | 'pids'>;

/** Starts a process and returns when it is ready. Its output goes to `<logs>/<name>.log`. */
export async function startDaemon(where: DaemonFolders, daemon: DaemonOptions): Promise<void> {
  const logFile = join(where.logs, `${daemon.name}.log`);
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  const { name, command, args, fingerprint, ready, readyTimeoutMs = 60_000, ...options } = daemon;
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = `it exited with ${code ?? signal}`;
  });
  child.unref();
  if (child.pid !== undefined) writePid(pidFile(where, name), child.pid, fingerprint);
  const deadline = Date.now() + readyTimeoutMs;
  for (;;) {
    const isReady = await ready();
    if (isReady && ended === undefined) return;
    if (Date.now() > deadline) ended ??= `not ready after ${readyTimeoutMs} ms`;
    if (ended !== undefined) {
      const message = `${name} did not start: ${ended}\n${excerpt(readFileSync(logFile, 'utf8'))}`;
      await stopDaemon(where, name);
      throw new SetupError(message);
    }
    await sleep(100);
  }
}

export function isRunning(where: DaemonFolders, name: string, fingerprint?: string): boolean {
  if (pidOf(where, name) === undefined) return false;
  return fingerprint === undefined || readPid(where, name).fingerprint === fingerprint;
}

/** Makes a process reload its configuration. Returns false if it is not running. */
export function reloadDaemon(where: DaemonFolders, name: string): boolean {
  const pid = pidOf(where, name);
  if (pid === undefined) return false;
  sendSignal(pid, 'SIGHUP');
  return true;
}

interface StopOptions {
  signal?: NodeJS.Signals;
  timeoutMs?: number;
}

/**
 * Stops a process by a signal, and by SIGKILL after `timeoutMs`. Returns false if it is not
 * running.
 */
export async function stopDaemon(
  where: DaemonFolders,
  name: string,
  { signal = 'SIGTERM', timeoutMs = 20_000 }: StopOptions = {},
): Promise<boolean> {
  const pid = pidOf(where, name);
  if (pid !== undefined) {
    sendSignal(pid, signal);
    const deadline = Date.now() + timeoutMs;
    while (pidOf(where, name) !== undefined) {
      if (Date.now() > deadline) sendSignal(pid, 'SIGKILL');
      await sleep(50);
    }
  }
  rmSync(pidFile(where, name), { force: true });
  return pid !== undefined;
}

/** Ignores that the process may have ended meanwhile. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // kill throws system errors only
  }
}

/** Undefined if the process is not running. */
export function pidOf(where: DaemonFolders, name: string): number | undefined {
  const { pid, start } = readPid(where, name);
  return start !== '' && startTimeOf(pid) === start ? pid : undefined;
}

function readPid(where: DaemonFolders, name: string) {
  const [pid = '0', start = '', fingerprint = ''] = readText(pidFile(where, name))
    .trim()
    .split(' ');
  return { pid: Number(pid), start, fingerprint };
}

function writePid(file: string, pid: number, fingerprint = ''): void {
  writeFileSync(file, `${pid} ${startTimeOf(pid) ?? ''} ${fingerprint}\n`);
}

function pidFile(where: DaemonFolders, name: string): string {
  return join(where.pids, `${name}.pid`);
}

/** The boot id and the tick of the process's start. Undefined if it has ended or is a zombie. */
function startTimeOf(pid: number): string | undefined {
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
