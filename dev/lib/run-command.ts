import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  /** Protects the program from the terminal's Ctrl-C. */
  detached?: boolean;
  timeoutMs?: number;
}

/** A program ended with a failure. The message contains an excerpt of its output. */
export class CommandError extends Error {}

/** Runs a program to its end and returns its output. */
export function runCommand(
  command: string,
  args: string[],
  options: RunOptions = {},
): Promise<string> {
  const { timeoutMs, ...spawnOptions } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...spawnOptions,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' }),
    });
    let stdout = '';
    let output = '';
    // A decoder, because a character may be split between two chunks.
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(stdout);
      const outcome = `${command} ${args[0] ?? ''} ended with ${code ?? signal}`;
      reject(new CommandError(`${outcome}\n${excerpt(output)}`));
    });
  });
}

export function findOnPath(program: string, also: string[] = []): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...also];
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

/** Keeps the first lines, where a panic explains itself, and the last, where other programs do. */
export function excerpt(text: string): string {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= 25) return lines.join('\n');
  return [...lines.slice(0, 5), '…', ...lines.slice(-20)].join('\n');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
