import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import {
  allowedHostRule,
  hasAtMost,
  modelBaseUrlRule,
  modelKeyRule,
  modelRule,
  projectIdRule,
  type TextRule,
} from '../core/field-rules.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import { passphraseMinChars } from './backup/sealed-key.ts';

// Each reads one value of the command line, or refuses it with what was expected.

export function projectId(text: string): string {
  return following(text, projectIdRule);
}

export function uuid(text: string): string {
  return matching(text, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID');
}

export function name(text: string): string {
  if (text !== '' && isText(text, limits.nameMaxChars)) return text;
  throw new InvalidArgumentError(`Expected 1 to ${limits.nameMaxChars} characters.`);
}

export function model(text: string): string {
  return following(text, modelRule);
}

export function modelKey(text: string): string {
  return following(text, modelKeyRule);
}

export function modelBaseUrl(text: string): string {
  return following(text, modelBaseUrlRule);
}

/** `host`, `host:port`, or `*.host` for all hosts below it. */
export function allowedHost(text: string, before: string[] = []): string[] {
  return [...before, following(text, allowedHostRule)];
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : -1;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

export function budgetUsd(text: string): number {
  const { maxBudgetMinUsd: min, maxBudgetMaxUsd: max } = limits;
  const value = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Expected dollars from ${min} to ${max}.`);
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
  const { cpusMin: min, cpusMax: max } = limits;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Expected a number from ${min} to ${max}.`);
}

/** Units are spelled out: `2G` means two things. */
export function memory(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)(MiB|GiB)$/.exec(text) ?? [];
  const bytes = Math.floor(Number(count) * (unit === 'GiB' ? 1024 ** 3 : 1024 ** 2));
  const { memoryMinBytes, memoryMaxBytes } = limits;
  if (count !== '' && bytes >= memoryMinBytes && bytes <= memoryMaxBytes) return bytes;
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

/** There is no second reading of it: an option that got nothing would be taken at its word. */
let isInputRead = false;

/** The text of a file, `-` being standard input. */
export function fileText(path: string): string {
  if (path === '-') {
    if (isInputRead)
      throw new InvalidArgumentError('Standard input is read for another option already.');
    isInputRead = true;
  }
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InvalidArgumentError(`It cannot be read: ${why}.`);
  }
}

/** A line end at its end is the editor's, not the author's. */
export function passphraseIn(path: string): string {
  const text = fileText(path).replace(/\r?\n$/, '');
  if (text.length >= passphraseMinChars) return text;
  throw new InvalidArgumentError(
    `Expected a passphrase of at least ${passphraseMinChars} characters.`,
  );
}

/** What stands in it is never said again: it may be a secret. */
export function jsonObject(text: string): JsonObject {
  const value = parsed(text);
  if (isObject(value)) return value;
  throw new InvalidArgumentError('Expected a JSON object.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text, refusingPrototypes);
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    const at = /line \d+ column \d+/.exec(String(error))?.[0];
    throw new InvalidArgumentError(`It is not JSON${at === undefined ? '' : `, at ${at}`}.`);
  }
}

/** As in a body of the API: it would be lost on the way. */
function refusingPrototypes(key: string, value: unknown): unknown {
  if (key !== '__proto__') return value;
  throw new InvalidArgumentError('No field is named __proto__.');
}

export function prompt(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes >= 1 && bytes <= limits.promptMaxBytes && !text.includes('\0')) return text;
  throw new InvalidArgumentError(`Expected 1 to ${limits.promptMaxBytes} bytes.`);
}

export function instructions(text: string): string {
  if (isText(text, limits.instructionsMaxChars)) return text;
  throw new InvalidArgumentError(`Expected at most ${limits.instructionsMaxChars} characters.`);
}

const isText = (text: string, max: number): boolean => !text.includes('\0') && hasAtMost(max, text);

function following(text: string, { pattern, expected }: TextRule): string {
  return matching(text, pattern, expected);
}

function matching(text: string, pattern: RegExp, expected: string): string {
  if (pattern.test(text)) return text;
  throw new InvalidArgumentError(`Expected ${expected}.`);
}
