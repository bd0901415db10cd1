import { scheduleLimits } from '../../../core/flows/schedule-limits.ts';
import type { ScheduledStart } from '../../../core/flows/schedule-state.ts';
import type { Db } from '../client/pool.ts';

/** A missed start is an event of its project. A second call changes nothing. */
export async function recordStart(
  db: Db,
  start: Omit<ScheduledStart, 'decidedAt'> & { flowId: string },
): Promise<boolean> {
  const { flowId, runId, scheduledAt, rejectedCode } = start;
  const { rows } = await db.query<{ isNew: boolean }>(
    `with added as (
       insert into scheduled_starts (flow_id, run_id, scheduled_at, rejected_code)
       values ($1, $2, $3, $4)
       on conflict do nothing
       returning run_id
     ),
     trimmed as (
       delete from scheduled_starts s
       using (
         select scheduled_at, run_id from scheduled_starts where flow_id = $1
         order by scheduled_at desc, run_id desc
         offset $5 - (select count(*) from added)
       ) oldest
       where s.flow_id = $1 and s.scheduled_at = oldest.scheduled_at and s.run_id = oldest.run_id
     ),
     reported as (
       select add_event(project_id, 'schedule.missed', json_build_object(
         'flowId', id, 'reason', $4::text, 'count', 1,
         'scheduledAt', iso_timestamp($3::timestamptz)
       )) as events
       from flows where id = $1 and $4::text is not null and exists (select from added)
     )
     select exists (select from added) as "isNew", (select sum(events) from reported) as events`,
    [flowId, runId, scheduledAt, rejectedCode, scheduleLimits.startsKept],
  );
  return rows[0]?.isNew === true;
}

export async function listStarts(db: Db, flowId: string): Promise<ScheduledStart[]> {
  const { rows } = await db.query<ScheduledStart>(
    `select scheduled_at as "scheduledAt", decided_at as "decidedAt", run_id as "runId",
            rejected_code as "rejectedCode"
     from scheduled_starts where flow_id = $1
     order by scheduled_at desc, run_id desc`,
    [flowId],
  );
  return rows;
}
