import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readSignedInConfig } from '../../config/cli/signed-in-config.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { CliError } from '../format-error.ts';

// Files of the user in ~/.config/flowrun, which only the user may read.

const folder = (): string =>
  join(readSignedInConfig().configHome ?? join(homedir(), '.config'), 'flowrun');

/** Empty if there is no such file. */
export function readSettings(name: string): JsonObject {
  const path = join(folder(), name);
  const text = readIfThere(path);
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The message below says what to do.
  }
  throw new CliError(`${path} is damaged. Delete it, and sign in again with \`flowrun login\`.`);
}

/** Replaces the file at once, so that a concurrent command never reads half of it. */
export function writeSettings(name: string, value: object): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const path = join(folder(), name);
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, path);
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CliError(`Cannot read the settings: ${(error as Error).message}`);
  }
}
