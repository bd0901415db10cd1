import { InvalidArgumentError } from 'commander';

// Parsers of options that may be given several times, and of times.

export type Pairs = Record<string, string>;

/** `name=value`. */
export function pair(text: string, before: Pairs = {}): Pairs {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('Expected name=value.');
  return { ...before, [name]: value };
}

export const list = (text: string, before: string[] = []): string[] => [...before, text];

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time before now, such as `2h`, or a date. */
export function since(text: string): Date {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const date =
    count === undefined
      ? new Date(text)
      : new Date(Date.now() - Number(count) * unitsMs[unit as keyof typeof unitsMs]); // matched
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('Expected a time like 30m, 2h or 7d, or a date in ISO 8601.');
}
