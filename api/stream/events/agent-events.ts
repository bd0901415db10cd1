// The events of the agent, as far as clients read them. The service forwards them verbatim, so they
// have further fields, which change with the agent's version.

import { z } from 'zod';
import type { AgentEvent } from '../../../core/frames/frame.ts';
import type { DescribedEvent } from './service-events.ts';

const members = z.record(z.string(), z.unknown());
const sessionId = z
  .string()
  .optional()
  .meta({ description: 'The agent’s own ID of the conversation.' });
const parentId = z
  .string()
  .nullable()
  .optional()
  .meta({ description: 'The `Task` call of the subagent that this event belongs to.' });

const contentBlock = z
  .looseObject({
    type: z.string().meta({ description: '`text`, `thinking`, `tool_use`, `tool_result`, …' }),
    text: z.string().optional(),
    thinking: z.string().optional(),
    id: z.string().optional().meta({ description: 'The ID of a `tool_use`.' }),
    name: z.string().optional().meta({ description: 'The tool of a `tool_use`.' }),
    input: members.optional().meta({ description: 'The input of a `tool_use`.' }),
    tool_use_id: z
      .string()
      .optional()
      .meta({ description: 'The `id` of the call that a `tool_result` belongs to.' }),
    content: z
      .unknown()
      .optional()
      .meta({ description: 'The text or the blocks of a `tool_result`.' }),
    is_error: z.boolean().optional().meta({ description: 'Whether a tool failed.' }),
  })
  .meta({ id: 'AgentContentBlock', description: 'The fields that are present depend on `type`.' });

const message = <T extends z.ZodType>(content: T) =>
  z.looseObject({ content, model: z.string().optional(), usage: members.optional() });

const delta = z.looseObject({
  type: z.string().meta({ description: '`content_block_delta`, `message_start`, …' }),
  index: z.int().optional(),
  delta: z
    .looseObject({
      type: z.string().optional().meta({ description: '`text_delta`, `thinking_delta`, …' }),
      text: z.string().optional(),
      thinking: z.string().optional(),
    })
    .optional(),
});

export const agentEvents: Record<AgentEvent, DescribedEvent & { schemaName: string }> = {
  system: {
    schemaName: 'AgentSystemEvent',
    id: 'always',
    when: 'the agent’s setup (`subtype` is `init`) and its notices',
    data: z.looseObject({
      type: z.literal('system'),
      subtype: z.string(),
      session_id: sessionId,
      model: z.string().optional(),
      cwd: z.string().optional(),
      tools: z.array(z.string()).optional(),
      mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })).optional(),
    }),
  },
  assistant: {
    schemaName: 'AgentAssistantEvent',
    id: 'always',
    when: 'a `message` whose `content` has blocks: text, and the tools that the agent uses',
    data: z.looseObject({
      type: z.literal('assistant'),
      message: message(z.array(contentBlock)),
      parent_tool_use_id: parentId,
      session_id: sessionId,
    }),
  },
  user: {
    schemaName: 'AgentUserEvent',
    id: 'always',
    when: 'the same shape, with the results of tools',
    data: z.looseObject({
      type: z.literal('user'),
      message: message(z.union([z.string(), z.array(contentBlock)])),
      parent_tool_use_id: parentId,
      session_id: sessionId,
    }),
  },
  result: {
    schemaName: 'AgentResultEvent',
    id: 'always',
    when: 'the end of the agent’s turn: `is_error`, `result`, `usage`, `total_cost_usd`',
    data: z.looseObject({
      type: z.literal('result'),
      subtype: z.string().optional().meta({ description: '`success`, `error_max_turns`, …' }),
      is_error: z.boolean(),
      result: z.string().optional().meta({ description: 'Absent if the turn had no answer.' }),
      structured_output: z.unknown().optional(),
      total_cost_usd: z.number(),
      usage: members,
      num_turns: z.int().optional(),
      duration_ms: z.number().optional(),
      session_id: sessionId,
    }),
  },
  stream: {
    schemaName: 'AgentCollidingEvent',
    id: 'always',
    when: 'an event of the agent without a usable name, or with a name that the service uses',
    data: z.looseObject({}),
  },
  stream_event: {
    schemaName: 'AgentDeltaEvent',
    id: 'never',
    when: 'a delta of an answer; only with `partialMessages`',
    data: z.looseObject({
      type: z.literal('stream_event'),
      event: delta,
      parent_tool_use_id: parentId,
      session_id: sessionId,
    }),
  },
  line_cut: {
    schemaName: 'AgentLineCutEvent',
    id: 'always',
    when: 'a line of the agent that was too long; `bytes` is its length, and `head` its start',
    data: z.looseObject({
      type: z.literal('line_cut'),
      bytes: z.int().min(0),
      head: z.string(),
    }),
  },
};
