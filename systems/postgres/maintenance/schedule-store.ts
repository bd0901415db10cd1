// Whose schedule Temporal has yet to be told of. A flow's row is the truth: whoever changes it needs
// no Temporal, and what Temporal missed is told it later.

import type { Schedule } from '../../../core/flows/schedule.ts';
import type { Db, Pool } from '../client/pool.ts';

export interface UnsyncedSchedule {
  flowId: string;
  /** Of the flow, as it was read. */
  version: number;
  /** Null: there is none any more. */
  schedule: Schedule | null;
}

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export function createScheduleStore(pool: Pool) {
  return {
    unsynced: () => untold(pool),
    /** From now on all that was told counts as untold. */
    resyncAll: () => doubtAll(pool),
    /** A flow that was changed since it was read has something to tell again. */
    markSynced: (told: UnsyncedSchedule) => markTold(pool, told),
  };
}

const atOnce = 100;

async function untold(db: Db): Promise<UnsyncedSchedule[]> {
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

/** Versions of flows begin at 1. */
async function doubtAll(db: Db): Promise<void> {
  await db.query(
    'update flows set schedule_synced_version = 0 where schedule_synced_version is not null',
  );
}

async function markTold(db: Db, { flowId, version, schedule }: UnsyncedSchedule): Promise<void> {
  await db.query(
    `update flows
     set schedule_synced_version =
       case when $3::boolean or version <> $2 then $2::integer end
     where id = $1`,
    [flowId, version, schedule !== null],
  );
}
