import { z } from 'zod';
import type { ServiceEvent } from '../../../core/frames/frame.ts';
import type { FinishedReason } from '../../../core/runs/end-cause.ts';
import { runRecord } from '../../runs/run-schema.ts';
import { storedFiles } from '../../runs/stored-files.ts';

export interface DescribedEvent {
  /** Whether the event has an ID. Events without one are not replayed. */
  id: 'always' | 'never' | 'unless first';
  when: string;
  /** The schema of the parsed `data`. */
  data: z.ZodType;
}

const agentStatus = runRecord.shape.agentStatus;
const messageId = z.uuid();
const files = storedFiles.unwrap().shape;

const treeNode = z
  .strictObject({
    name: z.string(),
    path: z.string(),
    type: z.enum(['file', 'directory']),
    get children() {
      return z.array(treeNode).optional();
    },
  })
  .meta({ id: 'FileTreeNode', description: 'Only a directory has `children`.' });

/** The reasons of `finished` and their meanings. */
export const finishedReasons: Record<FinishedReason, string> = {
  completed: 'the agent finished successfully',
  stopped: 'the run was stopped, or a plain run was interrupted',
  deleted: 'the run was deleted',
  no_upstream: 'the container never started',
  error: 'any other end; the run’s `error` has the cause',
  already_ended: 'the run had ended before you connected; read the run for its end',
};

/** The events that the service itself sends. */
export const serviceEvents: Record<ServiceEvent, DescribedEvent> = {
  status: {
    id: 'never',
    when: 'on connect, and when `status` changes: `running` or `sleep`',
    data: z.strictObject({ status: runRecord.shape.status, agentStatus }),
  },
  agent_status: {
    id: 'always',
    when: '`working`, `idle`, `waiting` (for an answer) or `error`',
    data: z.strictObject({ status: agentStatus.unwrap() }),
  },
  filetree: {
    id: 'never',
    when: 'on connect, after a turn, and when files change; `type` is `file` or `directory`. Only a directory has `children`',
    data: z.array(treeNode),
  },
  files_skipped: {
    id: 'always',
    when: 'the list of entries that the snapshot omits has changed; `skipped` has `path` and `reason` of the first 100',
    data: z.strictObject({ skippedCount: files.skippedCount, skipped: files.skipped }),
  },
  output: {
    id: 'unless first',
    when: 'rendered text; the first one on a connection is the end of the text so far',
    data: z.strictObject({ data: z.string() }),
  },
  session_ready: {
    id: 'always',
    when: 'the session’s container is up',
    data: z.strictObject({ sessionId: z.string() }),
  },
  state_rolled_back: {
    id: 'always',
    when: 'a host was lost before a finished turn was saved; the session continues with the state after the turn of this message, or with its initial state if `messageId` is `null`',
    data: z.strictObject({ messageId: messageId.nullable() }),
  },
  user_message: {
    id: 'always',
    when: 'the agent receives this message; `attempt` is present if the turn is run again, and is at least 2',
    data: z.strictObject({
      messageId,
      text: z.string(),
      attempt: z.int().min(2).optional().meta({
        description:
          'If present, this attempt replaces the earlier events with the same `messageId`.',
      }),
    }),
  },
  message_withdrawn: {
    id: 'always',
    when: 'this message was withdrawn before an agent received it; it has no turn',
    data: z.strictObject({ messageId }),
  },
  chat_output: {
    id: 'always',
    when: 'a whole block of the agent’s answer, not a delta',
    data: z.strictObject({ text: z.string() }),
  },
  interaction: {
    id: 'always',
    when: 'the agent asks; answer with `POST …/interactions/{interactionId}`',
    data: z.strictObject({
      interactionId: z.string(),
      toolName: z.string(),
      questions: z.array(z.looseObject({ question: z.string() })),
    }),
  },
  interaction_closed: {
    id: 'always',
    when: 'the question was `answered` or `withdrawn`',
    data: z.strictObject({
      interactionId: z.string(),
      outcome: z.enum(['answered', 'withdrawn']),
    }),
  },
  turn_end: {
    id: 'always',
    when: 'the turn has ended; `exitCode` is 0 or 1. `error` is present if the service ended the turn, or could not deliver the message',
    data: z.strictObject({
      exitCode: z.literal([0, 1]),
      sessionId: z.string(),
      messageId,
      error: z.string().optional(),
    }),
  },
  replay_truncated: {
    id: 'never',
    when: 'frames before this one are no longer buffered; `instanceId` is the `runId`. Read them with `GET …/logs?format=structured&channel=chat`',
    data: z.strictObject({ instanceId: z.uuid(), firstAvailableSeq: z.int().min(1) }),
  },
  finished: {
    id: 'always',
    when: 'the last event; for a plain run, `sessionId` is its `runId`',
    data: z.strictObject({
      sessionId: z.string(),
      reason: z.enum(Object.keys(finishedReasons)),
      exitCode: z.int().optional(),
    }),
  },
};
