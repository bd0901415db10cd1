import pg from 'pg';

/**
 * What could not be purged: IDs of runs, or hashes of blobs, with their errors. Another transaction
 * uses those that are locked.
 */
export type Unpurged = Map<string, Error | 'locked'>;

/**
 * Purges items together, and in halves if a statement fails, until those that cannot be purged are
 * alone. These are added to `unpurged`, so that they stop no other. Returns how many rows were
 * deleted or marked.
 */
export async function purgeTogether(
  ids: string[],
  unpurged: Unpurged,
  purge: (ids: string[]) => Promise<number>,
): Promise<number> {
  const [first] = ids;
  if (first === undefined) return 0;
  try {
    return await purge(ids);
  } catch (error) {
    if (!isOfStatement(error)) throw error;
    if (ids.length === 1) {
      unpurged.set(first, error);
      return 0;
    }
  }
  const half = Math.ceil(ids.length / 2);
  const ofFirst = await purgeTogether(ids.slice(0, half), unpurged, purge);
  return ofFirst + (await purgeTogether(ids.slice(half), unpurged, purge));
}

/**
 * The same for a purge that skips locked runs. If it purges none of them, they are added to
 * `unpurged`, so that the next batch has others.
 */
export async function purgeUnlocked(
  runIds: string[],
  unpurged: Unpurged,
  purge: (runIds: string[]) => Promise<number>,
): Promise<number> {
  const purged = await purgeTogether(runIds, unpurged, purge);
  if (purged > 0) return purged;
  for (const runId of runIds) if (!unpurged.has(runId)) unpurged.set(runId, 'locked');
  return 0;
}

/** SQLSTATEs of a server that is out of reach, out of resources or shutting down. */
const ofServer = /^(08...|53...|57P..)$/;

const isOfStatement = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && !ofServer.test(error.code ?? '08000');
