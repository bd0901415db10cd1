import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { limits } from '../core/limits.ts';

// Each reads one value of the command line, or refuses it with what was expected.

export function projectId(text: string): string {
  return matching(text, /^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, dashes and underscores');
}

export function uuid(text: string): string {
  return matching(text, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID');
}

export function name(text: string): string {
  return matching(text, /^[^\0]{1,200}$/su, `1 to ${limits.nameMaxChars} characters`);
}

/** A name that begins with a dash would be read as a flag by the agent. */
export function model(text: string): string {
  return matching(text, /^[A-Za-z0-9][\w.:@/[\]-]{0,99}$/, 'the name of a model');
}

/** `host`, `host:port`, or `*.host` for all hosts below it. */
export function allowedHost(text: string, before: string[] = []): string[] {
  const pattern = /^(?:\*\.[a-z0-9.-]{1,251}|[a-z0-9.-]{1,253}(?::\d{1,5})?)$/i;
  return [
    ...before,
    matching(text, pattern, 'a host like example.org, example.org:8443 or *.example.org'),
  ];
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : -1;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** `none` stays a word while the line is read: commander takes a null for a missing value. */
export type OrNone<T> = T | 'none';

export function orNone<T>(read: (text: string) => T): (text: string) => OrNone<T> {
  return (text) => (text === 'none' ? 'none' : read(text));
}

/** Null for `none`, and what was not given is still not given. */
export function noneAsNull<T extends string | number>(
  value: OrNone<T> | undefined,
): T | null | undefined {
  return value === 'none' ? null : value;
}

export function cpus(text: string): number {
  const value = /^\d{1,3}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (value >= 0.1 && value <= 256) return value;
  throw new InvalidArgumentError('Expected a number from 0.1 to 256.');
}

/** Units are spelled out: `2G` means two things. */
export function memory(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)(MiB|GiB)$/.exec(text) ?? [];
  const bytes = Math.floor(Number(count) * (unit === 'GiB' ? 1024 ** 3 : 1024 ** 2));
  if (count !== '' && bytes >= 256 * 1024 ** 2 && bytes <= 1024 ** 4) return bytes;
  throw new InvalidArgumentError('Expected a size from 256MiB to 1024GiB, like 2GiB.');
}

export function futureDate(text: string): Date {
  const date = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? new Date(text)
    : null;
  if (date !== null && date.getTime() > Date.now()) return date;
  throw new InvalidArgumentError(
    'Expected a moment to come, like 2030-01-31 or 2030-01-31T12:00:00Z.',
  );
}

/** The text of a file, `-` being standard input. */
export function fileText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InvalidArgumentError(`It cannot be read: ${why}.`);
  }
}

export function prompt(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes >= 1 && bytes <= limits.promptMaxBytes && !text.includes('\0')) return text;
  throw new InvalidArgumentError(`Expected 1 to ${limits.promptMaxBytes} bytes.`);
}

export function instructions(text: string): string {
  if (text.length <= limits.instructionsMaxChars && !text.includes('\0')) return text;
  throw new InvalidArgumentError(`Expected at most ${limits.instructionsMaxChars} characters.`);
}

function matching(text: string, pattern: RegExp, expected: string): string {
  if (pattern.test(text)) return text;
  throw new InvalidArgumentError(`Expected ${expected}.`);
}
