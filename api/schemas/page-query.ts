import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { queryNumber } from './text.ts';

/** The query of a list. */
export const pageQuery = {
  limit: queryNumber({ min: 1, max: limits.page.maxItems }).optional(),
  cursor: z
    .string()
    .max(2_000)
    .optional()
    .meta({ description: 'From the `Link` header of the previous page.' }),
};

/** The query of a list whose cursor is the ID of the last item of the previous page. */
export const pageByIdQuery = z.strictObject({
  ...pageQuery,
  cursor: z.uuid({ error: 'invalid cursor' }).optional(),
});
