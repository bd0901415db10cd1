import { z } from 'zod';
import type { WebhookEvent } from '../../core/webhook.ts';
import { costUsd, runRecord } from '../runs/run-schema.ts';
import { storedFiles } from '../runs/stored-files.ts';
import { runError } from '../schemas/run-error.ts';

const timestamp = z.string().meta({ format: 'date-time' });

const runFinished = z
  .object({
    runId: z.uuid(),
    flowId: z.uuid(),
    projectId: z.string(),
    status: z.literal('sleep'),
    agentStatus: z.string(),
    triggerType: z.string(),
    startedAt: timestamp,
    finishedAt: timestamp,
    error: runError,
    exitCode: z.int().nullable(),
    result: z.string().nullable(),
    costUsd,
    usage: runRecord.shape.usage,
    labels: z.record(z.string(), z.string()),
    files: storedFiles,
    offlineModel: runRecord.shape.offlineModel,
  })
  .meta({ id: 'RunFinished' });

/** The body of each webhook. */
export const webhookBodies: Record<WebhookEvent, z.ZodType> = {
  'run.finished': runFinished,
  'session.ended': runFinished.extend({ sessionId: z.string() }).meta({ id: 'SessionEnded' }),
  'endpoint.test': z
    .object({ projectId: z.string(), endpointId: z.uuid(), sentAt: timestamp })
    .meta({ id: 'EndpointTest' }),
};
