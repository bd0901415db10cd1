import type { Db } from '../client/pool.ts';

/**
 * An admission that has begun before may still admit a run. The reconciler removes the schedule
 * from Temporal, or creates it again. False if nothing changes.
 */
export async function archiveFlow(
  db: Db,
  { flowId, isArchived }: { flowId: string; isArchived: boolean },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update flows
     set archived_at = case when $2 then db_clock() end,
         schedule_synced_version =
           case when schedule_cron is null then schedule_synced_version else 0 end
     where id = $1 and (archived_at is not null) <> $2`,
    [flowId, isArchived],
  );
  return rowCount === 1;
}
