// Schedules that differ in Temporal. The row of a flow is the source: changing it needs no
// Temporal, and the reconciler syncs the schedule later.

import type { Schedule } from '../../../core/flows/schedule.ts';
import type { ScheduledStart } from '../../../core/flows/schedule-state.ts';
import type { Db, Pool } from '../client/pool.ts';
import { listStarts, recordStart } from './scheduled-starts.ts';

export interface UnsyncedSchedule {
  flowId: string;
  /** The version of the flow that was read. */
  version: number;
  /** Null to delete the schedule. */
  schedule: Schedule | null;
  isPaused: boolean;
}

/** Scheduled starts that Temporal has skipped since the last sync. */
interface SkippedStarts {
  projectId: string;
  count: number;
}

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export function createScheduleStore(pool: Pool) {
  return {
    /** A page of schedules to sync: those after the flow `after` come first, then the others. */
    unsynced: (after?: string) => unsynced(pool, after),
    /** Marks all schedules as not synced. */
    resyncAll: () => resyncAll(pool),
    /**
     * A flow that was changed since it was read remains unsynced. `skippedStarts` is Temporal's
     * count; the result has the newly skipped ones. Each is returned once.
     */
    markSynced: (schedule: UnsyncedSchedule, skippedStarts: number) =>
      markSynced(pool, schedule, skippedStarts),
    /** False if this start was recorded before. */
    recordStart: (start: Omit<ScheduledStart, 'decidedAt'> & { flowId: string }) =>
      recordStart(pool, start),
    /** The latest starts, latest first. */
    listStarts: (flowId: string) => listStarts(pool, flowId),
  };
}

const atOnce = 100;

/** Of `flows f` and its `projects p`. */
const hasSchedule =
  'f.schedule_cron is not null and f.archived_at is null and p.archived_at is null';

async function unsynced(db: Db, after: string | undefined): Promise<UnsyncedSchedule[]> {
  const { rows } = await db.query<UnsyncedSchedule>(
    `select f.id as "flowId", f.version,
            case when ${hasSchedule}
              then json_build_object('cron', f.schedule_cron, 'timezone', f.schedule_timezone)
            end as schedule,
            f.schedule_paused_at is not null as "isPaused"
     from flows f join projects p on p.id = f.project_id
     where (f.schedule_cron is not null or f.schedule_synced_version is not null)
       and (${hasSchedule} or f.schedule_synced_version is not null)
       and f.schedule_synced_version is distinct from f.version
     order by f.id <= $1::uuid, f.id
     limit ${atOnce}`,
    [after],
  );
  return rows;
}

/**
 * Admissions wait for a flow that is being marked. So one statement marks the flows of all projects
 * that are not locked, and each of the others is marked by a statement that holds no other flow.
 */
async function resyncAll(db: Db): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    `with unlocked as (
       select id from flows where schedule_synced_version is not null
       for no key update skip locked
     ),
     marked as (${markUnsynced} where id in (select id from unlocked))
     select id from flows
     where schedule_synced_version is not null and id not in (select id from unlocked)`,
  );
  for (const { id } of rows)
    await db.query(`${markUnsynced} where id = $1 and schedule_synced_version is not null`, [id]);
}

/** Versions of flows start at 1. */
const markUnsynced = 'update flows set schedule_synced_version = 0';

/**
 * A schedule that was paused or resumed, or whose flow or project was archived or restored, since
 * it was read is synced again. Skipped starts are an event of the project.
 */
async function markSynced(
  db: Db,
  { flowId, version, schedule, isPaused }: UnsyncedSchedule,
  skippedStarts: number,
): Promise<SkippedStarts | null> {
  const { rows } = await db.query<SkippedStarts>(
    `with synced as (
       update flows f
       set schedule_synced_version = case
             when (f.schedule_paused_at is not null) <> $4 then 0
             when (${hasSchedule}) <> $3 then 0
             when $3::boolean or f.version <> $2 then $2::integer
           end,
           schedule_skipped_starts = $5
       from (
         select id, schedule_skipped_starts as known from flows where id = $1 for no key update
       ) before, projects p
       where f.id = before.id and p.id = f.project_id
       returning f.id, f.project_id, ($5 - before.known)::integer as count
     )
     select project_id as "projectId", count,
            add_event(project_id, 'schedule.missed', json_build_object(
              'flowId', id, 'reason', 'late', 'count', count
            ))
     from synced where count > 0`,
    [flowId, version, schedule !== null, isPaused, skippedStarts],
  );
  const skipped = rows[0];
  return skipped === undefined ? null : { projectId: skipped.projectId, count: skipped.count };
}
