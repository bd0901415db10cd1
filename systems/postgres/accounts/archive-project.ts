import type { Db } from '../client/pool.ts';

/**
 * An admission that has begun before may still admit a run. The reconciler removes the schedules of
 * the project from Temporal, or creates them again. False if nothing changes.
 */
export async function archiveProject(
  db: Db,
  { projectId, isArchived }: { projectId: string; isArchived: boolean },
): Promise<boolean> {
  const { rows } = await db.query<{ isChanged: boolean }>(
    `with changed as (
       update projects set archived_at = case when $2 then db_clock() end
       where id = $1 and (archived_at is not null) <> $2
       returning id
     ),
     schedules as (
       update flows f set schedule_synced_version = 0
       from changed
       where f.project_id = changed.id and f.schedule_cron is not null and f.archived_at is null
     )
     select exists (select from changed) as "isChanged"`,
    [projectId, isArchived],
  );
  return rows[0]?.isChanged === true;
}
