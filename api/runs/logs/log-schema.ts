import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { jsonValue, queryNumber, seqMax } from '../../schemas/text.ts';

const seq = () => queryNumber({ min: 0, max: seqMax });

export const logsQuery = z
  .strictObject({
    format: z.enum(['text', 'structured']).default('text'),
    channel: z.enum(['output', 'chat', 'all']).default('output'),
    afterSeq: seq().optional().meta({ description: 'Only frames after this number.' }),
    beforeSeq: seq().optional().meta({ description: 'Only frames before this number.' }),
    limit: queryNumber({ min: 1, max: limits.page.logMaxEntries }).optional(),
    order: z.enum(['asc', 'desc']).default('asc'),
  })
  .refine(({ format, channel }) => format === 'structured' || channel !== 'chat', {
    path: ['channel'],
    error: 'has no text form; use format=structured for chat',
  });

export type LogsQuery = z.infer<typeof logsQuery>;

const seqOrNull = z.int().min(0).nullable();

export const logText = z
  .object({
    runId: z.uuid(),
    format: z.literal('text'),
    content: z.string(),
    fromSeq: seqOrNull,
    toSeq: seqOrNull,
    complete: z.boolean(),
  })
  .meta({ id: 'LogText' });

export const logEntries = z
  .object({
    runId: z.uuid(),
    format: z.literal('structured'),
    channel: z.enum(['output', 'chat', 'all']),
    entries: z.array(
      z.object({
        seq: z.int(),
        timestamp: z.string().meta({ format: 'date-time' }),
        event: z.string(),
        data: jsonValue(),
      }),
    ),
    nextSeq: seqOrNull,
    complete: z.boolean(),
  })
  .meta({ id: 'LogEntries' });
