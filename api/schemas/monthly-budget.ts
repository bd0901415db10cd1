import { z } from 'zod';
import { spendLimits } from '../../core/metering/spend-limits.ts';

/** The monthly budget of a project, a flow or a key. Null: unlimited. */
export const monthlyBudget = (description: string) =>
  z
    .number()
    .min(0)
    .max(spendLimits.monthlyBudgetMaxUsd)
    .nullable()
    .optional()
    .meta({ description });
