import { z } from 'zod';

/** Every success is `{data}` and nothing beside it. */
export const enveloped = <T extends z.ZodType>(data: T) => z.object({ data });

const errorBody = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      limit: z.number().optional(),
      current: z.number().optional(),
    }),
  })
  .meta({ id: 'ErrorEnvelope' });

/** The errors of a route, by status, for the description. */
export function errors<S extends number>(...statuses: S[]): Record<S, typeof errorBody> {
  const all = statuses.map((status) => [status, errorBody] as const);
  return Object.fromEntries(all) as Record<S, typeof errorBody>; // fromEntries forgets the names
}
