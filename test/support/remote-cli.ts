import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { repository } from '../../dev/lib/folders.ts';

/** The file of the command line that the service serves. */
export const servedCli = join(repository, 'dist/cli/flowrun.cjs');

interface CliEnd {
  code: number | null;
  out: string;
  err: string;
}

interface CliProcess {
  ended: Promise<CliEnd>;
  /** Resolves when standard error contains the text. */
  untilErr(text: string): Promise<void>;
  untilOut(text: string): Promise<void>;
  /** Standard error so far. */
  err(): string;
  signal(name: NodeJS.Signals): void;
  write(text: string): void;
  closeInput(): void;
}

export interface RemoteCli {
  (...args: string[]): Promise<CliEnd>;
  start(...args: string[]): CliProcess;
  /** Runs in a terminal, which shows both outputs. */
  inTerminal(...args: string[]): CliProcess;
  /** The home folder, which is also the working directory. */
  home: string;
  /** The same home with other variables. */
  with(env: Record<string, string>): RemoteCli;
  remove(): void;
}

/** The served command line with an empty home folder. Standard input is empty unless written to. */
export function remoteCli(env: Record<string, string> = {}): RemoteCli {
  return cliIn(mkdtempSync(join(tmpdir(), 'flowrun-home-')), env);
}

const patience = { interval: 20, timeout: 60_000 };

function cliIn(home: string, env: Record<string, string>): RemoteCli {
  function start(...args: string[]): CliProcess {
    return startProgram(process.execPath, [servedCli, ...args]);
  }

  function inTerminal(...args: string[]): CliProcess {
    const command = [process.execPath, servedCli, ...args].map(quoted).join(' ');
    return startProgram('script', ['--quiet', '--return', '--command', command, '/dev/null']);
  }

  function startProgram(program: string, args: string[]): CliProcess {
    const child = spawn(program, args, {
      cwd: home,
      env: { PATH: process.env['PATH'], HOME: home, ...env },
    });
    const end: CliEnd = { code: null, out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (end.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (end.err += text));
    const ended = new Promise<CliEnd>((resolve) =>
      child.on('close', (code) => resolve({ ...end, code })),
    );
    return {
      ended,
      untilErr: (text) => expect.poll(() => end.err, patience).toContain(text),
      untilOut: (text) => expect.poll(() => end.out, patience).toContain(text),
      err: () => end.err,
      signal: (name) => child.kill(name),
      write: (text) => void child.stdin.write(text),
      closeInput: () => void child.stdin.end(),
    };
  }
  async function run(...args: string[]): Promise<CliEnd> {
    return start(...args).ended;
  }
  return Object.assign(run, {
    start,
    inTerminal,
    home,
    with: (more: Record<string, string>) => cliIn(home, { ...env, ...more }),
    remove: () => rmSync(home, { recursive: true, force: true }),
  });
}

/** For the shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

interface PrintedEvent {
  seq: number | null;
  event: string;
}

/** The stored events among the lines that a command has printed with `--json`, without the end. */
export const storedEventsIn = (text: string): PrintedEvent[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PrintedEvent)
    .filter(({ seq, event }) => seq !== null && event !== 'finished')
    .map(({ seq, event }) => ({ seq, event }));
