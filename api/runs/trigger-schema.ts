import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { inputFiles } from '../files/input-file-schema.ts';
import { labels } from '../schemas/labels.ts';
import { boundFields } from '../schemas/run-bounds.ts';
import { configFields } from '../schemas/run-config-fields.ts';
import { maxBytes, name, nonBlankText, queryNumber, text } from '../schemas/text.ts';

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { error: 'must be 1 to 255 visible ASCII characters' })
  .max(limits.idempotencyKeyMaxChars)
  .meta({ description: 'Deduplicates retries for 24 hours within the project.' });

export const partialMessages = z.boolean().meta({
  description:
    'Answers come as they are written, too: as `stream_event` on the stream, whose `content_block_delta` has a ' +
    '`text_delta` or `thinking_delta`. These have no id and are not kept; the whole `assistant` event follows. ' +
    'Off unless asked for.',
});

/**
 * The body of a trigger. Each field is a schema of its own, and the object is strict: a field that
 * is not listed is refused, never ignored.
 */
export const triggerBody = z.strictObject({
  prompt: nonBlankText()
    .check(maxBytes(limits.promptMaxBytes))
    .optional()
    .meta({
      description: `The initial message, at most ${limits.promptMaxBytes} bytes of UTF-8; the flow's own prompt where it is absent.`,
    }),
  idempotencyKey: idempotencyKey.optional(),
  callbackUrl: text()
    .max(limits.callbackUrlMaxChars)
    .optional()
    .meta({ format: 'uri', description: 'https address that gets the signed webhook.' }),
  name: name().optional(),
  labels: labels.optional(),
  files: inputFiles.optional(),
  partialMessages: partialMessages.optional(),
  ...configFields,
  ...boundFields,
});

export const triggerQuery = z.strictObject({
  wait: queryNumber({ min: 0, max: limits.waitMaxSeconds }).optional().meta({
    description: 'Answer when the run has ended, or after so many seconds.',
  }),
});

export const triggerHeaders = z.looseObject({ 'idempotency-key': idempotencyKey.optional() });

export type TriggerBody = z.infer<typeof triggerBody>;
