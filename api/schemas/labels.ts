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

function checkLabel(key: string, value: unknown, context: z.core.$RefinementCtx): string {
  if (!labelKey.test(key)) {
    context.issues.push({
      code: 'custom',
      input: key,
      path: [key],
      message:
        'a label begins with a letter or digit, then letters, digits, dots, dashes and underscores, 64 at most',
    });
  }
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
