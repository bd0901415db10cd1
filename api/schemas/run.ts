import { z } from 'zod';

const timestamp = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);
const labelMap = z.record(z.string(), z.string());

export const runRecord = z
  .object({
    runId: z.uuid(),
    flowId: z.uuid(),
    projectId: z.string(),
    name: z.string().nullable(),
    labels: labelMap,
    status: z.enum(['running', 'sleep']),
    agentStatus: z.enum(['working', 'idle', 'waiting', 'error']).nullable(),
    triggerType: z.enum(['api', 'dashboard', 'schedule']),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
    sessionId: z.string().nullable(),
    streamUrl: z.string(),
    exitCode: z.int().nullable(),
    result: z.string().nullable(),
    structuredOutput: z.json().nullable(),
    usage: z.object({
      inputTokens: count,
      outputTokens: count,
      cacheReadInputTokens: count,
      cacheCreationInputTokens: count,
    }),
    costUsd: z.number().nullable(),
    numTurns: count,
    createdBy: z.object({ keyName: z.string(), createdBy: z.string() }),
    webhook: z.object({
      state: z.enum(['none', 'waiting', 'pending', 'delivered', 'dropped']),
      attempts: count,
      lastStatus: z.int().nullable(),
    }),
    mcpServerNames: z.array(z.string()),
    error: z.string().optional().meta({ description: 'Absent on clean completion.' }),
    stopping: z
      .literal(true)
      .optional()
      .meta({ description: 'An end is recorded, not yet reached.' }),
  })
  .meta({ id: 'Run' });

export type RunRecord = z.infer<typeof runRecord>;

export const runWithPrompt = runRecord.extend({ prompt: z.string() }).meta({ id: 'RunWithPrompt' });

/** What is left to say of a run that was deleted. */
export const deletedRun = z
  .object({
    runId: z.uuid(),
    flowId: z.uuid(),
    projectId: z.string(),
    labels: labelMap,
    createdAt: timestamp,
    status: z.enum(['running', 'sleep']),
    deleted: z.literal(true),
  })
  .meta({ id: 'DeletedRun' });

export const runParams = z.object({ runId: z.uuid() });
export const flowParams = z.object({ flowId: z.uuid() });
export const noQuery = z.strictObject({});
