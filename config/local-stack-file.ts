import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';

/** What the local stack tells the command line about itself; null where there is none. */
export function readStackFile(env: Environment): Environment | null {
  const file = join(stackFolder(env), 'demo', 'stack.json');
  const text = textOf(file);
  if (text === null) return null;
  const parsed = z.record(z.string(), z.string()).safeParse(jsonOf(text));
  if (!parsed.success) throw new ConfigError(`${file} is no description of a local stack`);
  return parsed.data;
}

function stackFolder(env: Environment): string {
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

/** Null, too, where it is none: one that was cut off while it was written. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
