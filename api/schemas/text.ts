import { z } from 'zod';

/** Text that Postgres can keep and that comes back as it was sent. */
export const text = () =>
  z.string().refine((value) => !value.includes('\0') && !/\p{Surrogate}/u.test(value), {
    error: 'must not hold NUL or half of a surrogate pair',
  });

/** Counted as people count: a character outside the basic plane is one. */
export function maxCharacters(max: number) {
  return z.refine<string>((value) => value.length <= max || Array.from(value).length <= max, {
    error: `must be at most ${max} characters`,
  });
}

export function maxBytes(max: number) {
  return z.refine<string>((value) => Buffer.byteLength(value) <= max, {
    error: `must be at most ${max} bytes of UTF-8`,
  });
}

/** A whole number in a query. */
export function queryNumber({ min, max }: { min: number; max: number }) {
  return z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be a whole number' })
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max });
}
