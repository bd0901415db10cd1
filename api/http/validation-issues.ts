// Error messages for clients that know JSON and not zod. A message from a schema itself is kept.
// This file words zod's own issues and missing fields.

import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { limits } from '../../core/limits.ts';

export interface Issue {
  path: PropertyKey[];
  message: string;
}

type ParseResult<T> = { value: T } | { issues: Issue[] };

export function parse<T extends z.ZodType>(schema: T, input: unknown): ParseResult<z.output<T>> {
  const result = schema.safeParse(input, { error: errorMap, reportInput: true });
  if (result.success) return { value: result.data };
  return { issues: result.error.issues.filter(isRelevant).flatMap(issuesOf) };
}

/** Drops the safe-integer issue if the schema's own bound already failed. */
function isRelevant(issue: z.core.$ZodIssue, _index: number, all: z.core.$ZodIssue[]): boolean {
  if (issue.code !== 'too_big' || issue.maximum !== Number.MAX_SAFE_INTEGER) return true;
  return !all.some((other) => other !== issue && isDeepStrictEqual(other.path, issue.path));
}

type ZodIssue = z.core.$ZodIssue;

function issuesOf(issue: ZodIssue): Issue[] {
  const { path, message } = issue;
  switch (issue.code) {
    case 'custom':
      return [{ path, message }];
    case 'unrecognized_keys':
      return unknownFields(path, issue.keys);
    case 'invalid_key':
      return issue.issues.flatMap(issuesOf).map((inner) => {
        return { path, message: `its name ${inner.message}` };
      });
    case 'invalid_element':
      return below([...path, String(issue.key)], issue.issues);
    case 'invalid_union':
      return issue.input === undefined ? [required(path)] : issuesOfUnion(issue);
    default:
      return [issue.input === undefined ? required(path) : { path, message }];
  }
}

/** A body may have a million unknown fields: only as many are collected as are shown. */
function unknownFields(path: PropertyKey[], keys: string[]): Issue[] {
  const shown = keys.slice(0, limits.http.reportedIssuesMax + 1);
  return shown.map((key) => ({ path: [...path, key], message: 'unknown field' }));
}

const required = (path: PropertyKey[]): Issue => ({ path, message: 'is required' });

function below(path: PropertyKey[], issues: ZodIssue[]): Issue[] {
  return issues.flatMap(issuesOf).map((inner) => ({ ...inner, path: [...path, ...inner.path] }));
}

/** The issues of the option whose type matches; if none matches, the list of options. */
function issuesOfUnion(issue: Extract<ZodIssue, { code: 'invalid_union' }>): Issue[] {
  const { path, errors } = issue;
  const ofMatchingType = errors.find((issues) => issues.every((each) => each.path.length > 0));
  if (ofMatchingType !== undefined) return below(path, ofMatchingType);
  if (issue.inclusive !== false && issue.options !== undefined)
    return [{ path, message: `must be ${oneOf(issue.options)}` }];
  const messages = errors.flatMap(([first]) => (first === undefined ? [] : below([], [first])));
  const types = messages.map(({ message }) => message.replace(/^must be /, ''));
  return [{ path, message: types.length === 0 ? 'is not valid' : `must be ${types.join(' or ')}` }];
}

/** The codes that are missing here get their message from `issuesOf`. */
const errorMap: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.received === 'Infinity' ? 'a finite number' : kindOf(issue.expected)}`;
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`;
    case 'invalid_format':
      return formatMessage(issue);
    case 'too_big':
      return boundMessage(issue, {
        limit: issue.maximum,
        inclusive: 'at most',
        exclusive: 'less than',
      });
    case 'too_small':
      return boundMessage(issue, {
        limit: issue.minimum,
        inclusive: 'at least',
        exclusive: 'more than',
      });
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'custom':
      return 'is not valid';
    default:
      return undefined;
  }
};

function kindOf(expected: string): string {
  return kinds[expected] ?? `a ${expected}`;
}

const kinds: Record<string, string> = {
  int: 'a whole number',
  boolean: 'true or false',
  null: 'null',
  array: 'an array',
  tuple: 'an array',
  set: 'an array',
  object: 'an object',
  record: 'an object',
  map: 'an object',
};

function oneOf(values: readonly unknown[]): string {
  const named = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  const last = named.pop() ?? '';
  return named.length === 0 ? last : `${named.join(', ')} or ${last}`;
}

interface Format {
  format: string;
  pattern?: string;
  prefix?: string;
  suffix?: string;
  includes?: string;
}

function formatMessage({ format, pattern, ...part }: Format): string {
  if (part.prefix !== undefined) return `must start with "${part.prefix}"`;
  if (part.suffix !== undefined) return `must end with "${part.suffix}"`;
  if (part.includes !== undefined) return `must contain "${part.includes}"`;
  if (format === 'regex') return `must match ${pattern}`;
  return `must be ${formats[format] ?? `a valid ${format}`}`;
}

const uuid = 'a UUID';
const formats: Record<string, string> = {
  guid: uuid,
  uuid,
  datetime: 'a time like 2026-01-31T09:00:00.000Z',
  date: 'a date like 2026-01-31',
  url: 'a URL',
  email: 'an email address',
  base64: 'base64',
  json_string: 'JSON',
};

interface Bounded {
  origin: string;
  inclusive?: boolean;
  exact?: boolean;
}

interface Bound {
  limit: number | bigint;
  inclusive: string;
  exclusive: string;
}

function boundMessage({ origin, inclusive = true, exact = false }: Bounded, bound: Bound): string {
  const unit = units[origin];
  const relation = exact ? 'exactly' : inclusive ? bound.inclusive : bound.exclusive;
  if (unit === undefined) return `must be ${exact ? '' : `${relation} `}${bound.limit}`;
  const limit = Number(bound.limit);
  if (relation === 'at least' && limit === 1) return 'must not be empty';
  return `must have ${relation} ${limit} ${limit === 1 ? unit : `${unit}s`}`;
}

/** The unit in which a value of each type is counted; a number has none. */
const units: Record<string, string> = {
  string: 'character',
  array: 'item',
  tuple: 'item',
  set: 'item',
  map: 'field',
  record: 'field',
  object: 'field',
  file: 'byte',
};
