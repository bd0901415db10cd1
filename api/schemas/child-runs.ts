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
  maxRuns: 'Runs of the tree besides its root, also those that have ended.',
  maxConcurrent: 'Runs of the tree besides its root that have not ended.',
  maxBudgetUsd:
    'Cost of the model calls of all runs of the tree, including its root. Null: unlimited.',
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
      'Its agents may start runs, as tools of the MCP server `flowrun`. The limits apply to the tree of runs below a run of this flow that no other run has started.',
  });

export const newChildRuns = z.strictObject({
  maxRuns: maxRuns.default(runs.default).meta({ description: meanings.maxRuns }),
  maxConcurrent: maxConcurrent.default(concurrent.default).meta({
    description: meanings.maxConcurrent,
  }),
  maxBudgetUsd: maxBudgetUsd.default(null).meta({ description: meanings.maxBudgetUsd }),
}) satisfies z.ZodType<ChildRuns>;
