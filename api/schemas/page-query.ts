import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { queryNumber } from './text.ts';

/** The query of a list. Its cursor is the ID of the last item of the previous page. */
export const pageQuery = {
  limit: queryNumber({ min: 1, max: limits.page.maxItems }).optional(),
  cursor: z
    .uuid({ error: 'invalid cursor' })
    .optional()
    .meta({ description: 'From the `Link` header of the previous page.' }),
};

export const pageByIdQuery = z.strictObject(pageQuery);
