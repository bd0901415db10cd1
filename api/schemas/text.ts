import { z } from 'zod';
import { hasAtMost, type TextRule } from '../../core/field-rules.ts';
import { limits } from '../../core/limits.ts';

/** Text that Postgres can store and that is returned unchanged. */
export const text = () =>
  z
    .string()
    .refine((value) => !value.includes('\0') && !/\p{Surrogate}/u.test(value), {
      error: 'must not contain NUL or an unpaired surrogate',
    })
    .meta({ pattern: '^[^\\u0000]*$' });

/** Text for an agent. White space alone would start the agent for nothing. */
export const nonBlankText = () =>
  text()
    .min(1)
    .refine((value) => value === '' || /\S/.test(value), { error: 'must not be only white space' })
    .meta({ pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$' });

/** Accepts any UUID version; an unknown ID yields 404, not 400. */
export const uuidLike = () => z.guid();

/** Any JSON value. `z.json()` would be a recursive schema in the OpenAPI document. */
export const jsonValue = () => z.unknown().meta({ description: 'Any JSON value.' });

export const matching = ({ pattern, expected }: TextRule) =>
  z.string().regex(pattern, { error: `must be ${expected}` });

/** Counts characters like JSON Schema, so `maxLength` is the same number. */
export const textUpTo = (max: number) => text().check(maxCharacters(max)).meta({ maxLength: max });

/** A display name. */
export const name = () =>
  text()
    .min(1)
    .check(maxCharacters(limits.text.nameMaxChars))
    .meta({ maxLength: limits.text.nameMaxChars });

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

/** An ISO 8601 time in any time zone, clamped to the years that UTC text can express. */
export const isoTimestamp = () =>
  z.iso
    .datetime({ offset: true, error: 'must be a time like 2026-01-31T09:00:00.000Z' })
    .transform((value) => new Date(Math.min(Math.max(Date.parse(value), earliest), latest)));

/** The largest `seq` that a request may name. */
export const seqMax = 999_999_999_999_999;

/** A whole number in a query string. */
export function queryNumber({ min, max }: { min: number; max: number }) {
  return z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be a whole number' })
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max });
}
