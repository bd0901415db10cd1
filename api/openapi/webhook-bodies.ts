import { z } from 'zod';
import { missedStartReasons } from '../../core/flows/missed-starts.ts';
import { budgetOwners } from '../../core/metering/monthly-budget.ts';
import { endpointEvents, type WebhookEvent } from '../../core/webhook.ts';
import { costUsd, runRecord } from '../runs/run-schema.ts';
import { storedFiles } from '../runs/stored-files.ts';
import { runError } from '../schemas/run-error.ts';

const timestamp = z.string().meta({ format: 'date-time' });
const labels = z.record(z.string(), z.string());

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
    labels,
    files: storedFiles,
    offlineModel: runRecord.shape.offlineModel,
  })
  .meta({ id: 'RunFinished' });

const ofProject = z.object({ projectId: z.string(), occurredAt: timestamp });
const causedByRun = ofProject.extend({ runId: z.uuid(), flowId: z.uuid(), labels });

/** The body of each webhook. */
export const webhookBodies: Record<WebhookEvent, z.ZodType> = {
  'run.finished': runFinished,
  'run.started': causedByRun
    .extend({
      status: z.literal('running'),
      agentStatus: z.string(),
      triggerType: z.string(),
      startedAt: timestamp,
    })
    .meta({ id: 'RunStarted' }),
  'session.idle': causedByRun
    .extend({
      sessionId: z.string(),
      messageId: z.uuid().meta({ description: 'The message whose turn has ended last.' }),
      exitCode: z.int(),
      result: z.string().optional().meta({ description: 'The text of the turn.' }),
      error: z.string().optional().meta({ description: 'Why the service failed the turn.' }),
    })
    .meta({ id: 'SessionIdle' }),
  'session.ended': runFinished.extend({ sessionId: z.string() }).meta({ id: 'SessionEnded' }),
  'interaction.asked': causedByRun
    .extend({
      sessionId: z.string().optional(),
      interactionId: z.string(),
      toolName: z.string(),
      input: z.unknown().meta({ description: 'The questions of the agent.' }),
      askedAt: timestamp,
    })
    .meta({ id: 'InteractionAsked' }),
  'delivery.dropped': causedByRun
    .partial()
    .extend({
      ...ofProject.shape,
      sessionId: z.string().optional(),
      deliveryId: z.uuid(),
      event: z.enum([...endpointEvents, 'endpoint.test']),
      endpointId: z.uuid().nullable().meta({ description: 'Null: sent to a `callbackUrl`.' }),
      attempts: z.int(),
      lastStatus: z.int().nullable(),
    })
    .meta({ id: 'DeliveryDropped' }),
  'schedule.missed': ofProject
    .extend({
      flowId: z.uuid(),
      reason: z.enum(missedStartReasons).meta({
        description: 'The code of the rejection, or `late`.',
      }),
      count: z.int().meta({ description: 'How many starts were missed.' }),
      scheduledAt: timestamp.optional().meta({
        description: 'The time at which the run was due. Absent if it is unknown.',
      }),
    })
    .meta({ id: 'ScheduleMissed' }),
  'budget.reached': ofProject
    .extend({
      budget: z.enum(budgetOwners).meta({ description: 'What the budget belongs to.' }),
      flowId: z
        .uuid()
        .optional()
        .meta({ description: 'The flow, if the budget is that of a flow.' }),
      keyId: z.uuid().optional().meta({ description: 'The key, if the budget is that of a key.' }),
      month: z.string().meta({ description: 'The month (UTC), such as 2026-01.' }),
      percent: z.literal([80, 100]).meta({ description: 'The part of the budget that was spent.' }),
      limitUsd: z.number().meta({ description: 'The budget.' }),
      currentUsd: z.number().meta({ description: 'What was spent, in this month.' }),
    })
    .meta({ id: 'MonthlyBudgetReached' }),
  'endpoint.test': z
    .object({ projectId: z.string(), endpointId: z.uuid(), sentAt: timestamp })
    .meta({ id: 'EndpointTest' }),
};
