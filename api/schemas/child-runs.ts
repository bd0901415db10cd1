import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { type ChildRuns, childRunLimits } from '../../core/runs/child-runs.ts';

const { runs, concurrent } = childRunLimits;

const maxRuns = z.int().min(1).max(runs.max);
const maxConcurrent = z.int().min(1).max(concurrent.max);
const maxBudgetUsd = z
  .number()
  .min(limits.run.budgetMinUsd)
  .max(limits.run.budgetMaxUsd)
  .nullable();

const meanings = {
  maxRuns: 'Maximum number of runs in the tree, without its root and including ended runs.',
  maxConcurrent: 'Maximum number of active runs in the tree, without its root.',
  maxBudgetUsd: 'Maximum cost of the model calls of the whole tree. Null: unlimited.',
};

/** What the runs of a flow may start. */
export const childRuns = z
  .object({
    maxRuns: maxRuns.meta({ description: meanings.maxRuns }),
    maxConcurrent: maxConcurrent.meta({ description: meanings.maxConcurrent }),
    maxBudgetUsd: maxBudgetUsd.meta({ description: meanings.maxBudgetUsd }),
  })
  .meta({
    id: 'ChildRuns',
    description:
      'Lets the agents of this flow start runs with the tools of the MCP server `flowrun`. The limits apply to each run tree whose root is a run of this flow.',
  });

export const newChildRuns = z.strictObject({
  maxRuns: maxRuns.default(runs.default).meta({ description: meanings.maxRuns }),
  maxConcurrent: maxConcurrent.default(concurrent.default).meta({
    description: meanings.maxConcurrent,
  }),
  maxBudgetUsd: maxBudgetUsd.default(null).meta({ description: meanings.maxBudgetUsd }),
}) satisfies z.ZodType<ChildRuns>;
