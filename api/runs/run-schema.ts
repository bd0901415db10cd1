import { z } from 'zod';
import { enveloped, errors } from '../schemas/envelope.ts';
import { runError } from '../schemas/run-error.ts';
import { jsonValue, uuidLike } from '../schemas/text.ts';
import { pendingInteraction } from './interactions/interaction-schema.ts';
import { storedFiles } from './stored-files.ts';

const timestamp = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);
const labelMap = z.record(z.string(), z.string());

/** The cost of a run or a turn. */
export const costUsd = z.number().nullable().meta({
  description:
    'Cost of the model calls, rounded to six decimals. Null before the first model call, or if the price of a called model is unknown.',
});

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
    structuredOutput: jsonValue(),
    usage: z.object({
      inputTokens: count,
      outputTokens: count,
      cacheReadInputTokens: count,
      cacheCreationInputTokens: count,
    }),
    costUsd,
    numTurns: count,
    createdBy: z.object({ keyName: z.string(), createdBy: z.string() }),
    webhook: z.object({
      state: z.enum(['none', 'waiting', 'pending', 'delivered', 'dropped']),
      attempts: count,
      lastStatus: z.int().nullable(),
    }),
    mcpServerNames: z.array(z.string()),
    retryOf: z.uuid().nullable().meta({ description: 'The run that this one retries.' }),
    error: runError,
    stopping: z
      .literal(true)
      .optional()
      .meta({ description: 'An end was requested, and the run has not ended yet.' }),
    offlineModel: z
      .literal(true)
      .optional()
      .meta({ description: 'The offline model has answered the agent, so its text is made up.' }),
    flowVersion: z.int().nullable().meta({
      description:
        'The version of the flow when the run was created. Null: not known, because the run was lost in a restore.',
    }),
    parentRunId: z.uuid().nullable().meta({
      description: 'The run whose agent started this one. Null: no agent started it.',
    }),
    rootRunId: z.uuid().nullable().meta({
      description: 'The root of the run tree of this run. Null: this run is itself a root.',
    }),
    depth: count.meta({
      description: 'The number of runs above this one in its run tree; 0 for a root.',
    }),
  })
  .meta({ id: 'Run' });

export type RunRecord = z.infer<typeof runRecord>;

// The order of the fields of a response is that of the schema: later fields come last.
export const runWithPrompt = runRecord
  .omit({ flowVersion: true, parentRunId: true, rootRunId: true, depth: true })
  .extend({
    prompt: z.string(),
    interactions: z
      .array(pendingInteraction)
      .meta({ description: 'Unanswered questions of the agent.' }),
    files: storedFiles,
    ...runRecord.pick({ flowVersion: true, parentRunId: true, rootRunId: true, depth: true }).shape,
  })
  .meta({ id: 'RunWithPrompt' });

/** The remaining fields of a deleted run. */
const deletedRun = z
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

/** Responses of every route that starts a run. 200: the run that the idempotency key refers to. */
export const startRunResponses = {
  201: enveloped(runRecord),
  200: enveloped(runRecord.or(deletedRun)),
  ...errors(400, 401, 403, 404, 409, 413, 415, 429, 500, 503),
};

export const runParams = z.object({ runId: uuidLike() });
export const flowParams = z.object({ flowId: uuidLike() });
export const noQuery = z.strictObject({});
