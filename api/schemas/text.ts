import { z } from 'zod';
import { hasAtMost, type TextRule } from '../../core/field-rules.ts';
import { limits } from '../../core/limits.ts';

/** Text that Postgres can keep and that comes back as it was sent. */
export const text = () =>
  z.string().refine((value) => !value.includes('\0') && !/\p{Surrogate}/u.test(value), {
    error: 'must not hold NUL or half of a surrogate pair',
  });

/** Something that is said to an agent: white space alone would start it for nothing. */
export const nonBlankText = () =>
  text()
    .min(1)
    .refine((value) => value === '' || /\S/.test(value), { error: 'must not be white space alone' })
    .meta({ pattern: '\\S' });

/** Of a version that nobody knows, it names nothing, and is no mistake. */
export const uuidLike = () => z.guid();

/** Any JSON value; described as one, where `z.json()` would be a schema that refers to itself. */
export const jsonValue = () => z.unknown().meta({ description: 'Any JSON value.' });

export const matching = ({ pattern, expected }: TextRule) =>
  z.string().regex(pattern, { error: `must be ${expected}` });

/** JSON Schema counts in the same way, so the description says the same. */
export const textUpTo = (max: number) => text().check(maxCharacters(max)).meta({ maxLength: max });

/** What people call something. */
export const name = () =>
  text().min(1).check(maxCharacters(limits.nameMaxChars)).meta({ maxLength: limits.nameMaxChars });

export function maxCharacters(max: number) {
  return z.refine<string>((value) => hasAtMost(max, value), {
    error: `must be at most ${max} characters`,
  });
}

export function maxBytes(max: number) {
  return z.refine<string>((value) => Buffer.byteLength(value) <= max, {
    error: `must be at most ${max} bytes of UTF-8`,
  });
}

const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** A moment in ISO 8601, of whatever time zone; within the years that can be written in UTC, too. */
export const isoTimestamp = () =>
  z.iso
    .datetime({ offset: true, error: 'must be a time like 2026-01-31T09:00:00.000Z' })
    .transform((value) => new Date(Math.min(Math.max(Date.parse(value), earliest), latest)));

/** A whole number in a query. */
export function queryNumber({ min, max }: { min: number; max: number }) {
  return z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be a whole number' })
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max });
}
