import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compiledService } from './compiled-service.ts';

export interface ServiceProcess {
  /** Of the process that runs now. */
  pid(): number;
  isRunning(): boolean;
  /** `env` is added to the environment of this life alone. */
  start(env?: Record<string, string>): Promise<void>;
  /** Returns when it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  restart(signal?: NodeJS.Signals): Promise<void>;
  /** Without waiting for what comes of it. */
  signal(name: NodeJS.Signals): void;
  /** Resolves with how the process that runs now, or ran last, has ended. */
  exited(): Promise<ProcessEnd>;
  /** Everything it has written, in all its lives. */
  log(): string;
}

interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ProcessOptions {
  name: string;
  /** Relative to the repository, as it is when compiled: a .js file. */
  program: string;
  env: Record<string, string>;
  logDir: string;
  ready(process: { logSince: () => string }): Promise<boolean> | boolean;
}

const startWithinMs = 180_000;

/** One of the service's own programs, as an operator would run it. */
export function serviceProcess(options: ProcessOptions): ServiceProcess {
  const logFile = join(options.logDir, `${options.name}.log`);
  let child: ChildProcess | null = null;
  const log = (): string => readFileSync(logFile, 'utf8');

  async function start(env: Record<string, string> = {}): Promise<void> {
    const folder = await compiledService();
    const output = createWriteStream(logFile, { flags: 'a' });
    await once(output, 'open');
    const seen = log().length;
    const started = spawn(process.execPath, [options.program], {
      cwd: folder,
      env: { ...options.env, ...env },
      stdio: ['ignore', output, output],
    });
    child = started;
    const logSince = (): string => log().slice(seen);
    const end = performance.now() + startWithinMs;
    while (!(await options.ready({ logSince }))) {
      if (hasEnded(started) || performance.now() > end) {
        throw new Error(`${options.name} did not start:\n${logSince().slice(-4_000)}`);
      }
      await sleep(50);
    }
  }

  async function kill(signal: NodeJS.Signals): Promise<void> {
    const running = child;
    if (!running || hasEnded(running)) return;
    const gone = once(running, 'exit');
    running.kill(signal);
    running.kill('SIGCONT'); // one that is frozen hears nothing else but SIGKILL
    await gone;
  }

  async function exited(): Promise<ProcessEnd> {
    if (!child) throw new Error(`${options.name} was never started`);
    if (!hasEnded(child)) await once(child, 'exit');
    return { code: child.exitCode, signal: child.signalCode };
  }

  return {
    pid: () => child?.pid ?? 0,
    isRunning: () => child !== null && !hasEnded(child),
    start,
    kill,
    restart: async (signal = 'SIGTERM') => {
      await kill(signal);
      await start();
    },
    signal: (name) => void child?.kill(name),
    exited,
    log,
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
