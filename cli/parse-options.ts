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
import { keyScopeRule, keyScopesMax } from '../core/keys/key-scopes.ts';
import { operatorTokenLimits } from '../core/keys/operator-tokens.ts';
import { limits } from '../core/limits.ts';
import { spendLimits } from '../core/metering/spend-limits.ts';
import { passphraseMinChars } from './backup/sealed-key.ts';

// Parsers of option values. An invalid value is rejected with the expected format.

export function projectId(text: string): string {
  return byRule(text, projectIdRule);
}

export function uuid(text: string): string {
  return matching(text, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID');
}

export function name(text: string): string {
  if (text !== '' && isText(text, limits.text.nameMaxChars)) return text;
  throw new InvalidArgumentError(`Expected 1 to ${limits.text.nameMaxChars} characters.`);
}

export function model(text: string): string {
  return byRule(text, modelRule);
}

export function modelKey(text: string): string {
  return byRule(text, modelKeyRule);
}

export function modelBaseUrl(text: string): string {
  return byRule(text, modelBaseUrlRule);
}

/** `host`, `host:port`, or `*.host` for all hosts below it. */
export function allowedHost(text: string, before: string[] = []): string[] {
  return [...before, byRule(text, allowedHostRule)];
}

/** May be given several times. Its values are validated later. */
export const repeated = (text: string, before: string[] = []): string[] => [...before, text];

/** May be given several times. */
export function keyScope(text: string, before: string[] = []): string[] {
  if (before.length >= keyScopesMax)
    throw new InvalidArgumentError(`Expected at most ${keyScopesMax} scopes.`);
  return [...before, byRule(text, keyScopeRule)];
}

/** May be given several times. */
export function tokenProject(text: string, before: string[] = []): string[] {
  const { projectsMax } = operatorTokenLimits;
  if (before.length >= projectsMax)
    throw new InvalidArgumentError(`Expected at most ${projectsMax} projects.`);
  return [...before, projectId(text)];
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    // Safe integers have up to 16 digits.
    const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

export const versionNumber = wholeNumber(1, 2_147_483_647);

function dollars(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,7}(?:\.\d{1,6})?$/.test(text) ? Number(text) : -1;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected dollars from ${min} to ${max}.`);
  };
}

export const budgetUsd = dollars(limits.run.budgetMinUsd, limits.run.budgetMaxUsd);
export const monthlyBudgetUsd = dollars(0, spendLimits.monthlyBudgetMaxUsd);

/**
 * `none` stays a string until the action runs, because commander treats null as a missing value.
 */
export type OrNone<T> = T | 'none';

export function orNone<T>(read: (text: string) => T): (text: string) => OrNone<T> {
  return (text) => (text === 'none' ? 'none' : read(text));
}

/** Null for `none`; undefined stays undefined. */
export function noneAsNull<T extends string | number>(
  value: OrNone<T> | undefined,
): T | null | undefined {
  return value === 'none' ? null : value;
}

export function cpus(text: string): number {
  const value = /^\d{1,3}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  const { cpusMin: min, cpusMax: max } = limits.sandbox;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Expected a number from ${min} to ${max}.`);
}

/** Units are spelled out, because `2G` is ambiguous. */
export function memory(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)(MiB|GiB)$/.exec(text) ?? [];
  const bytes = Math.floor(Number(count) * (unit === 'GiB' ? 1024 ** 3 : 1024 ** 2));
  const { memoryMinBytes, memoryMaxBytes } = limits.sandbox;
  if (count !== '' && bytes >= memoryMinBytes && bytes <= memoryMaxBytes) return bytes;
  throw new InvalidArgumentError('Expected a size from 256MiB to 1024GiB, like 2GiB.');
}

export function futureDate(text: string): Date {
  const date = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? new Date(text)
    : null;
  if (date !== null && date.getTime() > Date.now()) return date;
  throw new InvalidArgumentError(
    'Expected a date in the future, like 2030-01-31 or 2030-01-31T12:00:00Z.',
  );
}

/** Standard input can be read only once; a second option would silently get an empty value. */
let isInputRead = false;

/** The content of a file; `-` is standard input. */
export function fileText(path: string): string {
  if (path === '-') {
    if (isInputRead)
      throw new InvalidArgumentError('Standard input is already read for another option.');
    isInputRead = true;
  }
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InvalidArgumentError(`Cannot be read: ${why}.`);
  }
}

/** The final line break is dropped. */
export function passphraseIn(path: string): string {
  const text = fileText(path).replace(/\r?\n$/, '');
  if (text.length >= passphraseMinChars) return text;
  throw new InvalidArgumentError(
    `Expected a passphrase of at least ${passphraseMinChars} characters.`,
  );
}

/** Errors never quote the content, which may be secret. */
export function jsonObject(text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new InvalidArgumentError('Expected a JSON object.');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, rejectPrototype);
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    const at = /line \d+ column \d+/.exec(String(error))?.[0];
    throw new InvalidArgumentError(`Invalid JSON${at === undefined ? '' : `, at ${at}`}.`);
  }
}

/** Refused as in a request body, because JSON.parse would silently drop it. */
function rejectPrototype(key: string, value: unknown): unknown {
  if (key !== '__proto__') return value;
  throw new InvalidArgumentError('A field must not be named __proto__.');
}

export function prompt(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes >= 1 && bytes <= limits.text.promptMaxBytes && !text.includes('\0')) return text;
  throw new InvalidArgumentError(`Expected 1 to ${limits.text.promptMaxBytes} bytes.`);
}

export function instructions(text: string): string {
  if (isText(text, limits.text.instructionsMaxChars)) return text;
  throw new InvalidArgumentError(
    `Expected at most ${limits.text.instructionsMaxChars} characters.`,
  );
}

const isText = (text: string, max: number): boolean => !text.includes('\0') && hasAtMost(max, text);

function byRule(text: string, { pattern, expected }: TextRule): string {
  return matching(text, pattern, expected);
}

function matching(text: string, pattern: RegExp, expected: string): string {
  if (pattern.test(text)) return text;
  throw new InvalidArgumentError(`Expected ${expected}.`);
}
