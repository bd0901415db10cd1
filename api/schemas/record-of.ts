import { z } from 'zod';
import { parse } from '../http/validation-issues.ts';

interface RecordRules<T extends z.ZodType> {
  max: number;
  /** What the map holds, for people. */
  noun: string;
  /** Why a name cannot be taken; null where it can. */
  nameError: (name: string) => string | null;
  value: T;
}

/**
 * An object as a map from names to values of one kind. The count is looked at first, so that a
 * million entries cost no more than one too many.
 */
export function recordOf<T extends z.ZodType>({
  max,
  noun,
  nameError: nameFault,
  value,
}: RecordRules<T>) {
  return z.record(z.string(), z.unknown()).transform((given, context) => {
    const entries = Object.entries(given);
    if (entries.length > max) {
      context.addIssue(`must be at most ${max} ${noun}`);
      return z.NEVER;
    }
    const checked = entries.map(([name, item]): [string, z.output<T>] => {
      const fault = nameFault(name);
      if (fault !== null) addAt(context, [name], fault);
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
  const judgement = parse(schema, item);
  if ('value' in judgement) return judgement.value;
  for (const { path, message } of judgement.faults) addAt(context, [name, ...path], message);
  return z.NEVER;
}

function addAt(context: Context, path: PropertyKey[], message: string): void {
  context.issues.push({ code: 'custom', input: undefined, path, message });
}
