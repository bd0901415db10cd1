import { z } from 'zod';
import { sessionParams } from './session-schema.ts';

export const messageParams = sessionParams.extend({ messageId: z.string() });

export const unfinishedMessage = z
  .object({
    messageId: z.uuid(),
    position: z.int().min(0).meta({ description: 'Number of messages before it.' }),
    state: z.enum(['queued', 'in_progress']).meta({
      description: '`in_progress`: an agent may have received it, so it cannot be withdrawn.',
    }),
    text: z.string(),
    createdAt: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'UnfinishedMessage' });

export const withdrawnMessage = z
  .object({
    sessionId: z.string(),
    runId: z.uuid(),
    messageId: z.uuid(),
    withdrawn: z.literal(true),
  })
  .meta({ id: 'WithdrawnMessage' });
