import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { envNamePattern } from '../../core/runs/env-names.ts';
import { inputFiles } from '../files/input-file-schema.ts';
import { runCursor } from '../runs/run-cursor.ts';
import { costUsd, flowParams, runRecord } from '../runs/run-schema.ts';
import { storedFiles } from '../runs/stored-files.ts';
import { callbackUrl, idempotencyKey, partialMessages } from '../runs/trigger-schema.ts';
import { labelFilter, labels } from '../schemas/labels.ts';
import { describedRotation, describedServer, serverName } from '../schemas/mcp-servers.ts';
import { pageQuery } from '../schemas/page-query.ts';
import { configFields } from '../schemas/run-config-fields.ts';
import { maxBytes, name, nonBlankText, text } from '../schemas/text.ts';
import { sessionId } from './session-id.ts';

export const sessionBody = z.strictObject({
  sessionId: sessionId.optional().meta({
    description:
      'Resumes the conversation with this ID if it exists. Default: a new conversation with a generated ID.',
  }),
  callbackUrl: callbackUrl.meta({
    format: 'uri',
    description:
      'HTTPS URL that receives the signed webhooks `session.idle`, `interaction.asked` and `session.ended`.',
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
    queued: z
      .int()
      .min(0)
      .meta({ description: 'Number of messages that were not delivered to the agent yet.' }),
    lastMessageAt: z.string().nullable().meta({ format: 'date-time' }),
  })
  .meta({ id: 'Session' });

export const sessionWithFiles = sessionRecord
  .extend({ files: storedFiles })
  .meta({ id: 'SessionWithFiles' });

/** Any string: an invalid ID yields 404, not 400. */
export const sessionParams = flowParams.extend({ sessionId: z.string() });

/** All filters must match. */
export const sessionsQuery = z.strictObject({
  ...pageQuery,
  cursor: runCursor,
  status: runRecord.shape.status.optional(),
  ended: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({
      description:
        'true: only ended sessions. false: only sessions that have not ended. A session with status `sleep` may be either.',
    }),
  label: labelFilter.optional(),
});

export type SessionsQuery = z.infer<typeof sessionsQuery>;

export const endedSession = z
  .object({ sessionId: z.string(), runId: z.uuid(), ended: z.literal(true) })
  .meta({ id: 'EndedSession' });

export const chatBody = z.strictObject({
  message: nonBlankText().check(maxBytes(limits.text.promptMaxBytes)),
  sessionId: sessionId.optional().meta({ description: 'Default: a new session.' }),
  stream: z
    .boolean()
    .optional()
    .meta({
      description: `true (default): the response is 202 at once. false: the response waits for the end of the turn, at most ${limits.session.chatWaitMs / 1_000} s, and is 202 after that.`,
    }),
  clientMessageId: idempotencyKey.optional().meta({
    description:
      'Deduplicates retries of the message within its session. Same as the Idempotency-Key header.',
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
    position: z.int().min(0).meta({ description: 'Number of messages before it in the queue.' }),
  })
  .meta({ id: 'QueuedMessage' });

export const turnAnswer = z
  .object({
    ...queuedFields,
    text: z.string(),
    exitCode: z.int(),
    error: z.string().optional().meta({
      description:
        'Why the turn failed: an error of the run, `no_capacity` or `files_refused`. `withdrawn`: the message was withdrawn and had no turn. Absent if the agent has ended the turn.',
    }),
    usage: runRecord.shape.usage,
    costUsd,
  })
  .meta({ id: 'Turn' });

const { mcpMode, appendSystemPrompt, disallowedTools } = configFields;

/** Absent fields keep their values; null clears a field or one entry of a map. */
export const configPatch = z.strictObject({
  env: z
    .record(z.string(), text().nullable())
    .meta({ propertyNames: { pattern: envNamePattern } })
    .nullable()
    .optional()
    .meta({ description: 'Merged by name. Null removes a variable.' }),
  mcpServers: z
    .record(z.string(), z.record(z.string(), z.unknown()).nullable())
    .meta({
      propertyNames: { pattern: serverName.source },
      additionalProperties: { anyOf: [describedServer, describedRotation, { type: 'null' }] },
    })
    .nullable()
    .optional()
    .meta({
      description:
        'Merged by name. For an existing server, `headers` may be sent alone. Null removes a server.',
    }),
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
