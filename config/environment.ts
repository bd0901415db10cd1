import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from './config-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the variables that a shape names. An empty variable counts as one that is not set. */
export function readVariables<Shape extends z.ZodRawShape>(
  env: Environment,
  shape: Shape,
): z.output<z.ZodObject<Shape>> {
  const values = Object.fromEntries(Object.keys(shape).map((name) => [name, read(env, name)]));
  const parsed = z.object(shape).safeParse(values);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `${name} ${values[name] === undefined ? 'is not set' : 'is wrong'}: expected ${issue.message}`;
  });
  throw new ConfigError(lines.join('\n'));
}

/** One variable: what it must be, in words, and how it is read; null is a refusal. */
export function variable<T>(expected: string, parse: (text: string) => T | null) {
  return z.string({ error: expected }).transform((text, context) => {
    const value = parse(text);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: expected });
    return z.NEVER;
  });
}

/** A secret may stand in a file that `<name>_FILE` names, so that no process list or dump shows it. */
function read(env: Environment, name: string): string | undefined {
  const direct = env[name] === '' ? undefined : env[name];
  const file = env[`${name}_FILE`];
  if (file === undefined || file === '') return direct;
  if (direct !== undefined)
    throw new ConfigError(`${name} and ${name}_FILE are both set: expected one`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new ConfigError(`${name}_FILE names a file that cannot be read: ${file}`, { cause });
  }
}

/** Freezes a configuration in depth; buffers stay as they are, they cannot be frozen. */
export function deepFreeze<T extends object>(config: T): Readonly<T> {
  for (const value of Object.values(config)) {
    if (isPlain(value)) deepFreeze(value);
  }
  return Object.freeze(config);
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
