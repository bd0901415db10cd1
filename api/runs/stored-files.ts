import { z } from 'zod';
import type { ApiDeps } from '../deps.ts';

/** The state of a run's stored files, in the read of a single run or session. */
export const storedFiles = z
  .object({
    state: z.enum(['stored', 'partial']),
    skippedCount: z.int().min(0),
    skipped: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .meta({ description: 'The first entries that were not stored, and why.' }),
  })
  .nullable()
  .meta({
    description:
      'The last snapshot of the working directory. `partial`: some entries were not stored. Null if there is none.',
  });

export async function readStoredFiles(
  { runs }: Pick<ApiDeps, 'runs'>,
  runId: string,
): Promise<z.infer<typeof storedFiles>> {
  const found = await runs.findSkipped(runId);
  if (found === null) return null;
  const { skippedCount, skipped } = found;
  return { state: skippedCount === 0 ? 'stored' : 'partial', skippedCount, skipped };
}
