import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError } from '../format-error.ts';
import { exitCodes } from './exit-codes.ts';

/**
 * Reads a secret from standard input. A terminal is asked for it and does not show it, so that it
 * stays out of the history of the shell and off the screen.
 */
export async function readSecret(prompt: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  process.stderr.write(prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const interrupted = new AbortController();
  terminal.on('SIGINT', () => interrupted.abort());
  try {
    return (await terminal.question('', { signal: interrupted.signal })).trim();
  } catch {
    throw new CliError('', { exitCode: exitCodes.interrupted });
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
