import { z } from 'zod';
import { childRuns } from '../schemas/child-runs.ts';

const timestamp = z.string().meta({ format: 'date-time' });

export const flowRecord = z
  .object({
    flowId: z.uuid(),
    projectId: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    prompt: z.string().nullable(),
    instructions: z.string().nullable(),
    model: z.string().nullable(),
    allowedModels: z.array(z.string()).meta({
      description:
        'Further models that the agent may call, besides the model of the run and the small model that the agent uses for auxiliary tasks.',
    }),
    mcpServerNames: z.array(z.string()),
    envNames: z.array(z.string()),
    disallowedTools: z.array(z.string()),
    runner: z.string().nullable(),
    image: z.string().nullable(),
    resources: z.object({ memoryBytes: z.int(), cpus: z.number() }),
    network: z.object({
      policy: z.enum(['limited', 'open', 'none']),
      allowedHosts: z.array(z.string()),
    }),
    timeoutSeconds: z.int().nullable(),
    schedule: z.object({ cron: z.string(), timezone: z.string() }).nullable(),
    schedulePausedAt: timestamp.nullable().meta({
      description: 'When the schedule was paused. Null: it is not paused.',
    }),
    limits: z.object({ maxTurns: z.int().nullable(), maxBudgetUsd: z.number().nullable() }),
    monthlyBudgetUsd: z.number().nullable().meta({
      description: 'Maximum cost of the model calls of its runs in a month (UTC). Null: unlimited.',
    }),
    childRuns: childRuns.nullable(),
    storage: z.object({ usedBytes: z.int(), limitBytes: z.int() }),
    version: z.int(),
    archivedAt: timestamp.nullable().meta({
      description: 'When the flow was archived. Null: it is not archived.',
    }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Flow' });

export type FlowRecord = z.infer<typeof flowRecord>;
