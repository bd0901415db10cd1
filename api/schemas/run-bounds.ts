import { z } from 'zod';
import { modelRule } from '../../core/field-rules.ts';
import { limits } from '../../core/limits.ts';
import { outputSchema } from './output-schema.ts';
import { matching } from './text.ts';

export const model = matching(modelRule);

/** The bounds, output and model of a run. */
export const boundFields = {
  timeoutSeconds: z.int().min(1).max(limits.run.timeoutMaxSeconds).optional().meta({
    description: 'Maximum duration after the start. The run then ends with `timed_out`.',
  }),
  maxTurns: z.int().min(1).max(limits.run.turnsMax).optional().meta({
    description:
      'Maximum number of rounds of the agent. The run then ends with `max_turns_exceeded`, at the latest after 20 × `maxTurns` + 50 model calls.',
  }),
  maxBudgetUsd: z
    .number()
    .min(limits.run.budgetMinUsd)
    .max(limits.run.budgetMaxUsd)
    .optional()
    .meta({
      description:
        'Maximum cost of the model calls, as measured by the service. A model call that could exceed it is not made, and the run ends with `budget_exceeded`. Rejected if the price of the model is unknown.',
    }),
  outputSchema: outputSchema.optional(),
  model: model.optional().meta({ description: "Default: the flow's model." }),
};
