import { z } from 'zod';
import { budgetOwners } from '../../core/metering/monthly-budget.ts';

/** Every success is an object with the one member `data`. */
export const enveloped = <T extends z.ZodType>(data: T) => z.object({ data });

const errorBody = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      limit: z.number().optional(),
      current: z.number().optional(),
      budget: z.enum(budgetOwners).optional().meta({
        description: 'With `BUDGET_REACHED`: whose monthly budget is reached.',
      }),
    }),
  })
  .meta({ id: 'ErrorEnvelope' });

/** The error responses of a route by status, for the OpenAPI document. */
export function errors<S extends number>(...statuses: S[]): Record<S, typeof errorBody> {
  const all = statuses.map((status) => [status, errorBody] as const);
  return Object.fromEntries(all) as Record<S, typeof errorBody>; // fromEntries loses the key types
}
