import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repository } from '../../dev/lib/folders.ts';
import { codeCache, compiledService } from './compiled-service.ts';

export interface ServiceProcess {
  /** The ID of the current process. */
  pid(): number;
  isRunning(): boolean;
  /** `env` is added to the environment of this process only. */
  start(env?: Record<string, string>): Promise<void>;
  /** Resolves when the process has exited. */
  kill(signal: NodeJS.Signals): Promise<void>;
  restart(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal without waiting for its effect. */
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit of the current or last process. */
  exited(): Promise<ProcessEnd>;
  /** The output of all processes so far. */
  log(): string;
}

interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ProcessOptions {
  name: string;
  /** The compiled .js file, relative to the repository. */
  program: string;
  env: Record<string, string>;
  logDir: string;
  /** Runs the .ts file of the repository instead, as the image does. */
  sources?: boolean;
  ready(process: { logSince: () => string }): Promise<boolean> | boolean;
}

const startWithinMs = 180_000;

/** A program of the service, as an operator would run it. */
export function serviceProcess(options: ProcessOptions): ServiceProcess {
  const logFile = join(options.logDir, `${options.name}.log`);
  let child: ChildProcess | null = null;
  const log = (): string => readFileSync(logFile, 'utf8');

  async function start(env: Record<string, string> = {}): Promise<void> {
    const programEnv = { ...codeCache(), ...options.env, ...env };
    const [folder, program] = await locate(options, programEnv);
    const output = createWriteStream(logFile, { flags: 'a' });
    await once(output, 'open');
    const seen = log().length;
    const started = spawn(process.execPath, [program], {
      cwd: folder,
      env: programEnv,
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
    const exit = once(running, 'exit');
    running.kill(signal);
    running.kill('SIGCONT'); // a frozen process handles no other signal but SIGKILL
    await exit;
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

async function locate(
  { program, sources }: ProcessOptions,
  env: Record<string, string>,
): Promise<[string, string]> {
  if (sources) return [repository, program.replace(/\.js$/, '.ts')];
  const preloads = env['NODE_OPTIONS']?.includes('--import') === true;
  return [await compiledService(preloads ? 'external' : 'bundled'), program];
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
