import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { inputFiles } from '../files/input-file-schema.ts';
import { flowParams, runRecord } from '../runs/run-schema.ts';
import { idempotencyKey, partialMessages } from '../runs/trigger-schema.ts';
import { labelFilter, labels } from '../schemas/labels.ts';
import { pageQuery } from '../schemas/page-query.ts';
import { configFields } from '../schemas/run-config-fields.ts';
import { maxBytes, name, nonBlankText, text } from '../schemas/text.ts';
import { sessionId } from './session-id.ts';

export const sessionBody = z.strictObject({
  sessionId: sessionId.optional().meta({
    description: 'Goes on with the conversation of this id, if there is one; a new one without it.',
  }),
  name: name().optional(),
  labels: labels.optional(),
  partialMessages: partialMessages.optional(),
  ...configFields,
});

export type SessionBody = z.infer<typeof sessionBody>;

export const sessionOpened = z
  .object({ sessionId: z.string(), runId: z.uuid(), streamUrl: z.string() })
  .meta({ id: 'OpenedSession' });

export const sessionRecord = runRecord
  .extend({
    queued: z.int().min(0).meta({ description: 'Messages that no agent has been given yet.' }),
    lastMessageAt: z.string().nullable().meta({ format: 'date-time' }),
  })
  .meta({ id: 'Session' });

/** An id that no session can have names none. */
export const sessionParams = flowParams.extend({ sessionId: z.string() });

/** Each filter narrows the list further. */
export const sessionsQuery = z.strictObject({
  ...pageQuery,
  status: runRecord.shape.status.optional(),
  ended: z
    .enum(['true', 'false'])
    .transform((given) => given === 'true')
    .optional()
    .meta({
      description: 'Those that have ended, or those that have not: a sleeping one may be either.',
    }),
  label: labelFilter.optional(),
});

export type SessionsQuery = z.infer<typeof sessionsQuery>;

export const endedSession = z
  .object({ sessionId: z.string(), runId: z.uuid(), ended: z.literal(true) })
  .meta({ id: 'EndedSession' });

export const chatBody = z.strictObject({
  message: nonBlankText().check(maxBytes(limits.promptMaxBytes)),
  sessionId: sessionId.optional().meta({ description: 'A new session without it.' }),
  stream: z
    .boolean()
    .optional()
    .meta({
      description: `false: the answer waits for the end of the turn, ${limits.chatWaitMs / 1_000} s at most; after that it is the one that true, the default, gets at once.`,
    }),
  clientMessageId: idempotencyKey.optional().meta({
    description: 'The same message is not run twice in its session. As the Idempotency-Key header.',
  }),
  files: inputFiles.optional(),
});

const queuedFields = {
  sessionId: z.string(),
  runId: z.uuid(),
  messageId: z.uuid(),
};

export const messageQueued = z
  .object({
    ...queuedFields,
    streamUrl: z.string(),
    position: z.int().min(0).meta({ description: 'How many messages come before it.' }),
  })
  .meta({ id: 'QueuedMessage' });

export const turnAnswer = z
  .object({
    ...queuedFields,
    text: z.string(),
    exitCode: z.int(),
    error: z.string().optional().meta({
      description:
        'Why the turn was given up, like the error of a run, `no_capacity` or `files_refused`; absent where its agent has ended it.',
    }),
    usage: runRecord.shape.usage,
    costUsd: z.number().nullable(),
  })
  .meta({ id: 'Turn' });

const { mcpMode, appendSystemPrompt, disallowedTools } = configFields;

/** What is left out stays as it is; null clears a field, or one entry of a map. */
export const configPatch = z.strictObject({
  env: z
    .record(z.string(), text().nullable())
    .nullable()
    .optional()
    .meta({ description: 'Merged by name; null takes a variable away.' }),
  mcpServers: z
    .record(z.string(), z.record(z.string(), z.unknown()).nullable())
    .nullable()
    .optional()
    .meta({ description: 'Merged by name; of a known server `headers` may be given alone.' }),
  mcpMode: mcpMode.nullable(),
  appendSystemPrompt: appendSystemPrompt.nullable(),
  disallowedTools: disallowedTools.nullable(),
});

export type ConfigPatch = z.infer<typeof configPatch>;

export const configChanged = z
  .object({
    sessionId: z.string(),
    effective: z.enum(['now', 'next_turn']),
    env: z.array(z.string()),
    mcpServers: z.array(z.string()),
    disallowedTools: z.array(z.string()),
    appendSystemPrompt: z.boolean(),
  })
  .meta({ id: 'ChangedConfig' });
