import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { pageQuery } from '../schemas/page-query.ts';
import { text } from '../schemas/text.ts';

const fileMode = z.enum(['0644', '0755']);

export const fileEntry = z
  .object({
    path: z.string(),
    name: z.string(),
    type: z.literal('file'),
    size: z.int().min(0),
    sha256: z.string(),
    mode: fileMode.meta({ description: '`0755`: the file is executable.' }),
    scope: z.enum(['flow', 'run']),
    modifiedAt: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'FileEntry' });

/** The list starts after this path. */
const cursor = text()
  .min(1)
  .max(limits.file.pathMaxBytes)
  .optional()
  .meta({ description: 'From the `Link` header of the previous page.' });

const prefix = text()
  .max(limits.file.pathMaxBytes)
  .optional()
  .meta({ description: 'Only files whose path starts with this.' });

export const filesQuery = z.strictObject({
  ...pageQuery,
  cursor,
  scope: z.enum(['flow', 'run']).optional(),
  prefix,
});

const fileVersion = z
  .object({ size: z.int().min(0), sha256: z.string(), mode: fileMode })
  .nullable();

export const fileChange = z
  .object({
    path: z.string(),
    status: z.enum(['added', 'modified', 'deleted']),
    before: fileVersion.meta({ description: 'Null if the file was added.' }),
    after: fileVersion.meta({ description: 'Null if the file was deleted.' }),
  })
  .meta({ id: 'FileChange' });

export const changesQuery = z.strictObject({
  ...pageQuery,
  cursor,
  prefix,
  format: z
    .enum(['json', 'patch'])
    .optional()
    .meta({ description: '`patch`: all changes, as a patch for `git apply`.' }),
});
