import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { recordOf } from './record-of.ts';
import { maxCharacters } from './text.ts';

export const labelKey = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const labelValue = z.string().check(maxCharacters(limits.label.valueMaxChars));

export const labels = recordOf({
  max: limits.label.maxCount,
  noun: 'labels',
  nameError: keyError,
  value: labelValue,
}).meta({
  description: 'Stored with the run and returned unchanged. Never interpreted.',
  maxProperties: limits.label.maxCount,
  propertyNames: { pattern: labelKey.source },
  additionalProperties: { type: 'string', maxLength: limits.label.valueMaxChars },
});

/** Null removes a label. The final number depends on the run, so it is checked later. */
export const labelChange = recordOf({
  max: Number.POSITIVE_INFINITY,
  noun: 'labels',
  nameError: keyError,
  value: labelValue.nullable(),
}).meta({
  description: `Merged into the run's labels. Null removes a label. The result has at most ${limits.label.maxCount}.`,
  propertyNames: { pattern: labelKey.source },
  additionalProperties: { type: ['string', 'null'], maxLength: limits.label.valueMaxChars },
});

/** `key:value`, repeatable. A key contains no colon. */
export const labelFilter = z
  .unknown()
  .transform((input, context) =>
    [input].flat().map((pair) => {
      const [, key, value] = /^([^:]*):(.*)$/s.exec(String(pair)) ?? [];
      if (key !== undefined && value !== undefined && labelKey.test(key)) return [key, value];
      context.addIssue('must be a label of the form key:value');
      return z.NEVER;
    }),
  )
  .pipe(
    z.array(z.tuple([z.string(), z.string()])).max(limits.label.maxCount, {
      error: `must be at most ${limits.label.maxCount} labels`,
    }),
  )
  .meta({
    description: 'A label of the form `key:value`. If repeated, runs must have all of the labels.',
    type: 'array',
    items: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}:' },
    maxItems: limits.label.maxCount,
  });

function keyError(key: string): string | null {
  if (labelKey.test(key)) return null;
  return 'a label key must start with a letter or digit, and have at most 64 letters, digits, dots, dashes and underscores';
}
