import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ServiceProcess {
  /** Of the process that runs now. */
  pid(): number;
  start(): Promise<void>;
  /** Returns when it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  restart(signal?: NodeJS.Signals): Promise<void>;
  /** Everything it has written, in all its lives. */
  log(): string;
}

export interface ProcessOptions {
  name: string;
  /** Relative to the repository. */
  program: string;
  env: Record<string, string>;
  logDir: string;
  ready(process: { logSince: () => string }): Promise<boolean> | boolean;
}

const root = new URL('../../', import.meta.url).pathname;
const startWithinMs = 180_000;

/** One of the service's own programs, as an operator would run it. */
export function serviceProcess(options: ProcessOptions): ServiceProcess {
  const logFile = join(options.logDir, `${options.name}.log`);
  let child: ChildProcess | null = null;
  const log = (): string => readFileSync(logFile, 'utf8');

  async function start(): Promise<void> {
    const output = createWriteStream(logFile, { flags: 'a' });
    await once(output, 'open');
    const seen = log().length;
    const started = spawn(process.execPath, ['--import', 'tsx', options.program], {
      cwd: root,
      env: options.env,
      stdio: ['ignore', output, output],
    });
    child = started;
    const logSince = (): string => log().slice(seen);
    const end = performance.now() + startWithinMs;
    while (!(await options.ready({ logSince }))) {
      const gone = started.exitCode !== null || started.signalCode !== null;
      if (gone || performance.now() > end) {
        throw new Error(`${options.name} did not start:\n${logSince().slice(-4_000)}`);
      }
      await sleep(50);
    }
  }

  async function kill(signal: NodeJS.Signals): Promise<void> {
    const running = child;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill(signal);
    await exited;
  }

  return {
    pid: () => child?.pid ?? 0,
    start,
    kill,
    restart: async (signal = 'SIGTERM') => {
      await kill(signal);
      await start();
    },
    log,
  };
}
