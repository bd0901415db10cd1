// Schedules that differ in Temporal. The row of a flow is the source: changing it needs no
// Temporal, and the reconciler syncs the schedule later.

import type { Schedule } from '../../../core/flows/schedule.ts';
import type { Db, Pool } from '../client/pool.ts';

export interface UnsyncedSchedule {
  flowId: string;
  /** The version of the flow that was read. */
  version: number;
  /** Null to delete the schedule. */
  schedule: Schedule | null;
}

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export function createScheduleStore(pool: Pool) {
  return {
    unsynced: () => unsynced(pool),
    /** Marks all schedules as not synced. */
    resyncAll: () => resyncAll(pool),
    /** A flow that was changed since it was read remains unsynced. */
    markSynced: (schedule: UnsyncedSchedule) => markSynced(pool, schedule),
  };
}

const atOnce = 100;

async function unsynced(db: Db): Promise<UnsyncedSchedule[]> {
  const { rows } = await db.query<UnsyncedSchedule>(
    `select id as "flowId", version,
            case when schedule_cron is not null
              then json_build_object('cron', schedule_cron, 'timezone', schedule_timezone)
            end as schedule
     from flows
     where (schedule_cron is not null or schedule_synced_version is not null)
       and schedule_synced_version is distinct from version
     order by updated_at
     limit ${atOnce}`,
  );
  return rows;
}

/** Versions of flows start at 1. */
async function resyncAll(db: Db): Promise<void> {
  await db.query(
    'update flows set schedule_synced_version = 0 where schedule_synced_version is not null',
  );
}

async function markSynced(db: Db, { flowId, version, schedule }: UnsyncedSchedule): Promise<void> {
  await db.query(
    `update flows
     set schedule_synced_version =
       case when $3::boolean or version <> $2 then $2::integer end
     where id = $1`,
    [flowId, version, schedule !== null],
  );
}
