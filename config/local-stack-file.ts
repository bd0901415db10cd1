import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';

/** The settings that the local stack writes for the command line; null if there is no stack. */
export function readStackFile(env: Environment): Environment | null {
  const file = join(dataDirectory(env), 'demo', 'stack.json');
  const text = textOf(file);
  if (text === null) return null;
  const parsed = z.record(z.string(), z.string()).safeParse(jsonOf(text));
  if (!parsed.success) throw new ConfigError(`${file} does not describe a local stack`);
  return parsed.data;
}

function dataDirectory(env: Environment): string {
  if (env.FLOWRUN_DATA) return env.FLOWRUN_DATA;
  return process.getuid?.() === 0 ? '/var/lib/flowrun' : join(homedir(), '.local/share/flowrun');
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Null for invalid JSON too: the file may be partially written. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
