import { z } from 'zod';
import { parse } from '../http/validation-issues.ts';

interface RecordRules<T extends z.ZodType> {
  max: number;
  /** The plural noun for the entries, for messages. */
  noun: string;
  /** The error of an invalid name; null for a valid one. */
  nameError: (name: string) => string | null;
  value: T;
}

/**
 * An object as a map from names to values of one type. The count is checked first, so that a
 * million entries cost no more than one too many.
 */
export function recordOf<T extends z.ZodType>({ max, noun, nameError, value }: RecordRules<T>) {
  return z.record(z.string(), z.unknown()).transform((record, context) => {
    const entries = Object.entries(record);
    if (entries.length > max) {
      context.addIssue(`must be at most ${max} ${noun}`);
      return z.NEVER;
    }
    const checked = entries.map(([name, item]): [string, z.output<T>] => {
      const error = nameError(name);
      if (error !== null) addAt(context, [name], error);
      return [name, checkValue(value, { name, item, context })];
    });
    return Object.fromEntries(checked);
  });
}

type Context = z.core.$RefinementCtx;

function checkValue<T extends z.ZodType>(
  schema: T,
  { name, item, context }: { name: string; item: unknown; context: Context },
): z.output<T> {
  const result = parse(schema, item);
  if ('value' in result) return result.value;
  for (const { path, message } of result.issues) addAt(context, [name, ...path], message);
  return z.NEVER;
}

function addAt(context: Context, path: PropertyKey[], message: string): void {
  context.issues.push({ code: 'custom', input: undefined, path, message });
}
