import { z } from 'zod';

/** Part of the response for a single run or session. */
export const storedFiles = z
  .object({
    state: z.enum(['stored', 'partial', 'failed']),
    skippedCount: z.int().min(0),
    skipped: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .meta({ description: 'The first entries that were not stored, and why.' }),
  })
  .nullable()
  .meta({
    description:
      'State of the last snapshot of the working directory. `partial`: some entries were not stored. `failed`: the run has ended and its files could not be stored; its host retries until the retention time has passed. Null if there is no snapshot.',
  });
