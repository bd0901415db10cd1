import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { labels } from './labels.ts';
import { maxBytes, maxCharacters, text } from './text.ts';

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { error: 'must be 1 to 255 visible ASCII characters' })
  .max(limits.idempotencyKeyMaxChars)
  .meta({ description: 'Deduplicates retries for 24 hours within the project.' });

/**
 * The body of a trigger. Each field is a schema of its own, and the object is strict: a field that
 * is not listed is refused, never ignored.
 */
export const triggerBody = z.strictObject({
  prompt: text()
    .min(1)
    .check(maxBytes(limits.promptMaxBytes))
    .optional()
    .meta({ description: "The initial message; the flow's own prompt where it is absent." }),
  idempotencyKey: idempotencyKey.optional(),
  callbackUrl: z
    .string()
    .max(limits.callbackUrlMaxChars)
    .optional()
    .meta({ format: 'uri', description: 'https address that gets the signed webhook.' }),
  name: text().min(1).check(maxCharacters(limits.nameMaxChars)).optional(),
  labels: labels.optional(),
  partialMessages: z
    .boolean()
    .optional()
    .meta({ description: 'Token deltas on the stream; off unless asked for.' }),
});

export const triggerHeaders = z.looseObject({ 'idempotency-key': idempotencyKey.optional() });

export type TriggerBody = z.infer<typeof triggerBody>;
