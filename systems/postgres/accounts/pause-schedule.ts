import type { Db } from '../client/pool.ts';

/**
 * Takes effect at once, because a scheduled start reads the flow. The reconciler syncs the change
 * to Temporal. False if nothing changes.
 */
export async function pauseSchedule(
  db: Db,
  { flowId, isPaused }: { flowId: string; isPaused: boolean },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update flows
     set schedule_paused_at = case when $2 then db_clock() end, schedule_synced_version = 0
     where id = $1 and schedule_cron is not null and (schedule_paused_at is not null) <> $2`,
    [flowId, isPaused],
  );
  return rowCount === 1;
}
