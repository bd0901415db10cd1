import type { Db } from '../client/pool.ts';

/**
 * An admission that has begun before may still admit a run. The new version makes the reconciler
 * remove the schedule from Temporal, or create it again. False if nothing changes.
 */
export async function archiveFlow(
  db: Db,
  { flowId, isArchived }: { flowId: string; isArchived: boolean },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update flows
     set archived_at = case when $2 then db_clock() end,
         version = version + 1, updated_at = db_clock()
     where id = $1 and (archived_at is not null) <> $2`,
    [flowId, isArchived],
  );
  return rowCount === 1;
}
