import { z } from 'zod';
import { modelRule } from '../../core/field-rules.ts';
import { limits } from '../../core/limits.ts';
import { outputSchema } from './output-schema.ts';
import { matching } from './text.ts';

export const model = matching(modelRule);

/** What a run may do, and what is to come of it. */
export const boundFields = {
  timeoutSeconds: z.int().min(1).max(limits.timeoutMaxSeconds).optional().meta({
    description: 'From its start to its end; then it ends with timed_out.',
  }),
  maxTurns: z.int().min(1).max(limits.maxTurnsMax).optional().meta({
    description: 'How often the agent may ask the model; then it ends with max_turns_exceeded.',
  }),
  maxBudgetUsd: z.number().min(limits.maxBudgetMinUsd).max(limits.maxBudgetMaxUsd).optional().meta({
    description: 'What the model may cost; then it ends with budget_exceeded.',
  }),
  outputSchema: outputSchema.optional(),
  model: model.optional().meta({ description: "The flow's own model where it is absent." }),
};
