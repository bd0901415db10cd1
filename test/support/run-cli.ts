import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { codeCache, compiledService } from './compiled-service.ts';

interface CliResult {
  code: number | null;
  out: string;
  err: string;
}

export interface Cli {
  (...args: string[]): Promise<CliResult>;
  /** Adds --json and parses the output. */
  json<T>(...args: string[]): Promise<T>;
}

/** Runs the command line as a child process with exactly these settings. */
export function cliWith(env: Record<string, string>, input = ''): Cli {
  const run = (...args: string[]) => runCli(args, { env, input });
  return Object.assign(run, {
    async json<T>(...args: string[]): Promise<T> {
      const { code, out, err } = await run(...args, '--json');
      if (code !== 0)
        throw new Error(`flowrun ${args.join(' ')} ended with ${String(code)}: ${err}`);
      return JSON.parse(out) as T;
    },
  });
}

async function runCli(
  args: string[],
  { env, input }: { env: Record<string, string>; input: string },
): Promise<CliResult> {
  const program = join(await compiledService(), 'deploy/command-line.js');
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...codeCache(), PATH, HOME, FLOWRUN_DATA: '/nowhere', ...env },
  });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}
