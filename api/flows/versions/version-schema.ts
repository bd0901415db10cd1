import { z } from 'zod';
import { flowVersionLimits } from '../../../core/flows/flow-version.ts';
import { fileChange } from '../../files/file-schema.ts';
import { flowParams } from '../../runs/run-schema.ts';
import { queryNumber } from '../../schemas/text.ts';
import { flowRecord } from '../flow-schema.ts';

const timestamp = z.string().meta({ format: 'date-time' });

const definition = flowRecord
  .pick({
    name: true,
    description: true,
    prompt: true,
    instructions: true,
    model: true,
    allowedModels: true,
    disallowedTools: true,
    mcpServerNames: true,
    envNames: true,
    image: true,
    resources: true,
    network: true,
    timeoutSeconds: true,
    limits: true,
    monthlyBudgetUsd: true,
    childRuns: true,
    runner: true,
    schedule: true,
  })
  .meta({ id: 'FlowDefinition' });

export const versionRecord = z
  .object({
    version: z.int(),
    changedAt: timestamp,
    changedBy: z.string().nullable().meta({
      description:
        'The name of the operator or the key, or the user of the command line. Null: not known.',
    }),
    changedFields: z.array(z.string()).meta({
      description:
        'The fields that differ from the version before, and `files`. Of the first version all.',
    }),
    filesKept: z.boolean().meta({
      description: 'Whether its files are kept, so that they can be compared and restored.',
    }),
  })
  .meta({ id: 'FlowVersion' });

export const fullVersion = versionRecord
  .extend({
    definition,
    files: z.object({
      count: z.int(),
      bytes: z.int(),
      revision: z.int().meta({ description: 'Rises with each change of the files.' }),
    }),
  })
  .meta({ id: 'FullFlowVersion' });

export const versionDiff = z
  .object({
    from: z.int(),
    to: z.int(),
    fields: z.array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })),
    fileChanges: z
      .array(fileChange)
      .nullable()
      .meta({
        description: `The first ${flowVersionLimits.diffFilesMax} files that differ, ordered by path. Null: the files of one version are no longer kept.`,
      }),
    fileChangeCount: z.int().nullable().meta({
      description: 'How many files differ. Null: the files of one version are no longer kept.',
    }),
    changedSecrets: z.array(z.string()).meta({
      description:
        'Names of secrets that have other values, such as `env.TOKEN` or `mcpServers.search`. Values are never returned.',
    }),
  })
  .meta({ id: 'FlowVersionDiff' });

export const versionNumber = () => queryNumber({ min: 1, max: 2_147_483_647 });

export const versionParams = flowParams.extend({ version: versionNumber() });

export const diffQuery = z.strictObject({
  from: versionNumber().optional().meta({
    description: 'The version to compare with; by default the one before.',
  }),
});
