import { z } from 'zod';
import type { ServiceEvent } from '../../core/frames/frame.ts';
import { mapNodes } from '../openapi/json-tree.ts';
import { allowUnknownMembers } from '../openapi/relax-responses.ts';
import { runRecord } from '../runs/run-schema.ts';
import { storedFiles } from '../runs/stored-files.ts';

const agentStatus = runRecord.shape.agentStatus;
const messageId = z.uuid();
const files = storedFiles.unwrap().shape;

/**
 * The `data` of each event that the service itself sends. An event of the agent has the agent's own
 * data.
 */
export const eventPayloads: Record<ServiceEvent, z.ZodType> = {
  status: z.strictObject({ status: runRecord.shape.status, agentStatus }),
  agent_status: z.strictObject({ status: agentStatus.unwrap() }),
  filetree: z.array(
    z.strictObject({
      name: z.string(),
      path: z.string(),
      type: z.enum(['file', 'directory']),
      children: z
        .array(z.unknown())
        .optional()
        .meta({ description: 'The content of a directory, as nodes of this form.' }),
    }),
  ),
  files_skipped: z.strictObject({ skippedCount: files.skippedCount, skipped: files.skipped }),
  output: z.strictObject({ data: z.string() }),
  session_ready: z.strictObject({ sessionId: z.string() }),
  state_rolled_back: z.strictObject({
    messageId: messageId
      .nullable()
      .meta({ description: 'The message of the last saved turn. Null if no turn was saved.' }),
  }),
  user_message: z.strictObject({
    messageId,
    text: z.string(),
    attempt: z.int().min(2).optional().meta({
      description:
        'Present if the turn is run again. Replace the events of the earlier attempt with the same `messageId`.',
    }),
  }),
  message_withdrawn: z.strictObject({ messageId }),
  chat_output: z.strictObject({ text: z.string() }),
  interaction: z.strictObject({
    interactionId: z.string(),
    toolName: z.string(),
    questions: z.array(z.looseObject({ question: z.string() })),
  }),
  interaction_closed: z.strictObject({
    interactionId: z.string(),
    outcome: z.enum(['answered', 'withdrawn']),
  }),
  turn_end: z.strictObject({
    exitCode: z.literal([0, 1]),
    sessionId: z.string(),
    messageId,
    error: z.string().optional(),
  }),
  replay_truncated: z.strictObject({ instanceId: z.uuid(), firstAvailableSeq: z.int().min(1) }),
  finished: z.strictObject({
    sessionId: z.string(),
    reason: z.enum(['completed', 'stopped', 'deleted', 'no_upstream', 'error', 'already_ended']),
    exitCode: z.int().optional(),
  }),
};

/**
 * The same as JSON Schema: an event is described by its name and its data, which may get further
 * fields.
 */
export const eventSchemas = Object.entries(eventPayloads).map(([event, payload]) => {
  const { $schema: _, ...data } = z.toJSONSchema(payload, { target: 'draft-2020-12' });
  return {
    type: 'object',
    properties: { event: { const: event }, data: mapNodes(data, allowUnknownMembers) },
    required: ['event', 'data'],
  };
});
