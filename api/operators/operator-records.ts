// Responses of the operators' routes.

import { z } from 'zod';
import { runWithPrompt } from '../runs/run-schema.ts';

const timestamp = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);

export const operatorRecord = z
  .object({ operatorId: z.uuid(), name: z.string(), createdAt: timestamp })
  .meta({ id: 'Operator' });

const projectLimits = {
  maxConcurrentRuns: count,
  maxOpenSessions: count,
  monthlyRunQuota: count.nullable().meta({ description: 'Null: unlimited.' }),
  monthlyBudgetUsd: z.number().nullable().meta({ description: 'Null: unlimited.' }),
  storageQuotaBytes: count.nullable().meta({ description: 'Null: unlimited.' }),
};

const project = { projectId: z.string(), name: z.string(), ...projectLimits };

export const projectRecord = z
  .object({
    ...project,
    createdAt: timestamp,
    archivedAt: timestamp.nullable().meta({
      description: 'When the project was archived. Null: it is not archived.',
    }),
  })
  .meta({ id: 'Project' });

export const settingsRecord = z
  .object({
    ...project,
    model: z
      .object({ baseUrl: z.string() })
      .nullable()
      .meta({ description: 'Null: the model of the service. Its key is write-only.' }),
  })
  .meta({ id: 'ProjectSettings' });

export const webhookSecrets = z.object({
  webhookSecret: z.string(),
  standardWebhookSecret: z.string().meta({
    description: 'The same secret in the form that libraries for Standard Webhooks expect.',
  }),
  nextWebhookSecret: z.string().nullable().meta({
    description: 'Also signs until it replaces the secret. Null: no rotation is in progress.',
  }),
  nextStandardWebhookSecret: z.string().nullable().meta({
    description: 'The next secret in the form that libraries for Standard Webhooks expect.',
  }),
});

export const keyRecord = z
  .object({
    keyId: z.uuid(),
    projectId: z.string(),
    name: z.string(),
    createdBy: z.string(),
    shownPrefix: z.string().meta({ description: 'The readable part of the key.' }),
    rateLimitRpm: count,
    scopes: z.array(z.string()).nullable().meta({
      description: 'Null: the key is not limited.',
    }),
    monthlyBudgetUsd: z.number().nullable().meta({ description: 'Null: unlimited.' }),
    state: z.enum(['active', 'expired', 'revoked']),
    expiresAt: timestamp.nullable(),
    revokedAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'ApiKey' });

export const createdKey = keyRecord
  .extend({ key: z.string().meta({ description: 'The key. It is not shown again.' }) })
  .meta({ id: 'CreatedApiKey' });

const days = z
  .array(z.object({ day: z.string(), calls: count, errors: count, durationMs: count }))
  .meta({ description: 'The calls with keys by day (UTC), oldest first.' });

export const keyUsageRecord = z.object({ keyId: z.uuid(), days });

export const projectUsage = z.object({
  month: z.string(),
  monthlyRuns: count,
  concurrentRuns: count,
  openSessions: count,
  ...projectLimits,
  storedBytes: z.object({ files: count, transcripts: count, logs: count, messages: count }),
  days,
});

export const runOfOperator = runWithPrompt
  .extend({
    context: z
      .record(z.string(), z.string())
      .meta({ description: 'The `X-Ctx-*` headers of the request.' }),
    hostId: z.string().nullable(),
    workflowId: z.string(),
    webhookAttempts: z.array(
      z.object({
        delivery: count.meta({
          description: '0: at the end of the run; n: the n-th that an operator requested.',
        }),
        attempt: count,
        startedAt: timestamp,
        finishedAt: timestamp.nullable(),
        status: z.int().nullable(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'RunOfOperator' });

const operatorToken = {
  tokenId: z.uuid(),
  name: z.string(),
  operator: z.string().meta({ description: 'The operator that the token acts as.' }),
  shownPrefix: z.string().meta({ description: 'The readable part of the token.' }),
  projectIds: z.array(z.string()).nullable().meta({ description: 'Null: all projects.' }),
  expiresAt: timestamp,
  createdAt: timestamp,
};

export const operatorTokenRecord = z.object(operatorToken).meta({ id: 'OperatorToken' });

export const createdOperatorToken = z
  .object({
    token: z.string().meta({ description: 'The token. It is not shown again.' }),
    ...operatorToken,
  })
  .meta({ id: 'CreatedOperatorToken' });

export const revokedToken = z.object({ tokenId: z.uuid(), revoked: z.literal(true) });

export const redelivery = z.object({ runId: z.uuid(), delivery: count });
