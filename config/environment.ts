import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { retiredSettings } from './retired-settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the variables of a shape. An empty variable counts as not set. Throws a ConfigError. */
export function readVariables<Shape extends z.ZodRawShape>(
  env: Environment,
  shape: Shape,
): z.output<z.ZodObject<Shape>> {
  rejectRetired(env);
  const values = Object.fromEntries(Object.keys(shape).map((name) => [name, read(env, name)]));
  const parsed = z.object(shape).safeParse(values);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `${name} ${values[name] === undefined ? 'is not set' : 'is wrong'}: expected ${issue.message}`;
  });
  throw new ConfigError(lines.join('\n'));
}

function rejectRetired(env: Environment): void {
  const lines = Object.entries(retiredSettings).flatMap(([retired, current]) =>
    env[retired] || env[`${retired}_FILE`]
      ? [`${retired} is not used any more: set ${current}`]
      : [],
  );
  if (lines.length > 0) throw new ConfigError(lines.join('\n'));
}

/**
 * A variable: what it must be, in words, and its parser, which returns null for an invalid value.
 */
export function variable<T>(expected: string, parse: (text: string) => T | null) {
  return z.string({ error: expected }).transform((text, context) => {
    const value = parse(text);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: expected });
    return z.NEVER;
  });
}

/** `<name>_FILE` may name a file with the value, so that no process list shows a secret. */
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

/** Freezes nested objects and arrays too, but not buffers, which cannot be frozen. */
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
