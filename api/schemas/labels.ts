import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { maxCharacters } from './text.ts';

const labelKey = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const labelValue = z.string().check(maxCharacters(limits.labelValueMaxChars));

/** The count is looked at first, so that a million labels cost no more than twenty-one. */
export const labels = z
  .record(z.string(), z.unknown())
  .transform((given, context) => {
    const entries = Object.entries(given);
    if (entries.length > limits.labelsMax) {
      context.addIssue(`must be at most ${limits.labelsMax} labels`);
      return z.NEVER;
    }
    return Object.fromEntries(
      entries.map(([key, value]) => [key, checkLabel(key, value, context)]),
    );
  })
  .meta({
    description: 'Stored with the run and returned unchanged; never interpreted.',
    maxProperties: limits.labelsMax,
    propertyNames: { pattern: labelKey.source },
    additionalProperties: { type: 'string', maxLength: limits.labelValueMaxChars },
  });

/** A label that is to be gone is null; how many there are in the end, only the run can say. */
export const labelChange = z
  .record(z.string(), z.unknown())
  .transform((given, context) =>
    Object.fromEntries(
      Object.entries(given).map(([key, value]) => [
        key,
        value === null ? checkKey(key, context) : checkLabel(key, value, context),
      ]),
    ),
  )
  .meta({
    description: `Merged into the run's labels, ${limits.labelsMax} at most after that; null removes.`,
    propertyNames: { pattern: labelKey.source },
    additionalProperties: { type: ['string', 'null'], maxLength: limits.labelValueMaxChars },
  });

/** `key:value`, once or more often: a key holds no colon. */
export const labelFilter = z
  .unknown()
  .transform((given, context) =>
    [given].flat().map((pair) => {
      const [, key, value] = /^([^:]*):(.*)$/s.exec(String(pair)) ?? [];
      if (key !== undefined && value !== undefined && labelKey.test(key)) return [key, value];
      context.addIssue('must be a label as key:value');
      return z.NEVER;
    }),
  )
  .pipe(
    z.array(z.tuple([z.string(), z.string()])).max(limits.labelsMax, {
      error: `must be at most ${limits.labelsMax} labels`,
    }),
  )
  .meta({
    description: 'A label as key:value. Given more than once: runs that have all of them.',
    type: 'array',
    items: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}:' },
    maxItems: limits.labelsMax,
  });

function checkLabel(key: string, value: unknown, context: z.core.$RefinementCtx): string {
  checkKey(key, context);
  const checked = labelValue.safeParse(value);
  if (checked.success) return checked.data;
  context.issues.push({
    code: 'custom',
    input: value,
    path: [key],
    message: checked.error.issues[0]?.message ?? 'is no text',
  });
  return '';
}

function checkKey(key: string, context: z.core.$RefinementCtx): null {
  if (labelKey.test(key)) return null;
  context.issues.push({
    code: 'custom',
    input: key,
    path: [key],
    message:
      'a label begins with a letter or digit, then letters, digits, dots, dashes and underscores, 64 at most',
  });
  return null;
}
