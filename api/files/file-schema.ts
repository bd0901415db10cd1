import { z } from 'zod';
import { pageQuery } from '../schemas/page-query.ts';

export const fileEntry = z
  .object({
    path: z.string(),
    name: z.string(),
    type: z.literal('file'),
    size: z.int().min(0),
    sha256: z.string(),
    scope: z.enum(['flow', 'run']),
    modifiedAt: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'FileEntry' });

export const filesQuery = z.strictObject({
  ...pageQuery,
  scope: z.enum(['flow', 'run']).optional(),
  prefix: z
    .string()
    .max(512)
    .refine((prefix) => !prefix.includes('\0'), { error: 'must not contain NUL' })
    .optional()
    .meta({ description: 'Only files whose path starts with this.' }),
});
