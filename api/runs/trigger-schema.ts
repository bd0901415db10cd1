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
  .max(limits.idempotency.keyMaxChars)
  .meta({ description: 'Deduplicates retries within the project for 24 hours.' });

export const partialMessages = z.boolean().meta({
  description:
    'Also streams token deltas: `stream_event` with a `content_block_delta` of type `text_delta` or ' +
    '`thinking_delta`. Deltas have no ID and are not stored; the complete `assistant` event follows. ' +
    'Default: false.',
});

export const callbackUrl = text().max(limits.run.callbackUrlMaxChars).optional();

/**
 * The body of a trigger. Each field has its own schema, and the object is strict: an unknown field
 * is rejected, never ignored.
 */
export const triggerBody = z
  .strictObject({
    prompt: nonBlankText()
      .check(maxBytes(limits.text.promptMaxBytes))
      .optional()
      .meta({
        description: `The initial message, at most ${limits.text.promptMaxBytes} bytes of UTF-8. Default: the flow's prompt.`,
      }),
    idempotencyKey: idempotencyKey.optional(),
    callbackUrl: callbackUrl.meta({
      format: 'uri',
      description: 'HTTPS URL that receives the signed webhook.',
    }),
    name: name().optional(),
    labels: labels.optional(),
    files: inputFiles.optional(),
    partialMessages: partialMessages.optional(),
    ...configFields,
    ...boundFields,
  })
  .meta({
    not: {
      properties: { mcpServers: {}, idempotencyKey: {} },
      required: ['mcpServers', 'idempotencyKey'],
    },
  });

export const triggerQuery = z.strictObject({
  wait: queryNumber({ min: 0, max: limits.run.waitMaxSeconds }).optional().meta({
    description: 'Seconds to wait for the end of the run before answering.',
  }),
});

export const triggerHeaders = z.looseObject({ 'idempotency-key': idempotencyKey.optional() });

export type TriggerBody = z.infer<typeof triggerBody>;
