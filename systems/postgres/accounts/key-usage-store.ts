import type { DayOfUsage } from '../../../core/agent/usage.ts';
import { limits } from '../../../core/limits.ts';
import type { Db, Pool } from '../client/pool.ts';

export interface KeyDay extends DayOfUsage {
  keyId: string;
}

/** How much of its limits a project uses now. */
interface ProjectUsage {
  /** The UTC month, such as 2026-01, and the runs that count towards it. */
  month: string;
  monthlyRuns: number;
  concurrentRuns: number;
  openSessions: number;
}

export type KeyUsageStore = ReturnType<typeof createKeyUsageStore>;

export function createKeyUsageStore(pool: Pool) {
  return {
    /** Adds to the stored counts; at most one entry per key and day. */
    add: (entries: KeyDay[]) => addUsage(pool, entries),
    /** One entry per day, today included, oldest first. */
    ofKey: (keyId: string, days: number) => daysOfUsage(pool, days, { keyId }),
    ofProject: (projectId: string, days: number) => daysOfUsage(pool, days, { projectId }),
    bounds: (projectId: string) => readBounds(pool, projectId),
    /** Deletes the days that are past retention. */
    purge: () => purge(pool),
  };
}

/** Always in the same order, so that concurrent writers do not deadlock. */
async function addUsage(db: Db, entries: KeyDay[]): Promise<void> {
  await db.query(
    `insert into key_usage as u (key_id, day, calls, errors, duration_ms)
     select * from unnest($1::uuid[], $2::date[], $3::bigint[], $4::bigint[], $5::bigint[])
     order by 1, 2
     on conflict (key_id, day) do update
       set calls = u.calls + excluded.calls,
           errors = u.errors + excluded.errors,
           duration_ms = u.duration_ms + excluded.duration_ms`,
    [
      entries.map(({ keyId }) => keyId),
      entries.map(({ day }) => day),
      entries.map(({ calls }) => calls),
      entries.map(({ errors }) => errors),
      entries.map(({ durationMs }) => Math.round(durationMs)),
    ],
  );
}

/** A subquery, see before-now.ts. */
const today = `((select db_clock()) at time zone 'UTC')::date`;

async function daysOfUsage(
  db: Db,
  days: number,
  of: { keyId?: string; projectId?: string },
): Promise<DayOfUsage[]> {
  const { rows } = await db.query<DayOfUsage>(
    `select to_char(d.day, 'YYYY-MM-DD') as day,
            coalesce(sum(u.calls), 0)::bigint as calls,
            coalesce(sum(u.errors), 0)::bigint as errors,
            coalesce(sum(u.duration_ms), 0)::bigint as "durationMs"
     from (select ${today} - n as day from generate_series(0, $1 - 1) n) d
     left join key_usage u on u.day = d.day
       and u.key_id in (select k.id from api_keys k where k.id = $2 or k.project_id = $3)
     group by d.day
     order by d.day`,
    [days, of.keyId ?? null, of.projectId ?? null],
  );
  return rows;
}

async function readBounds(db: Db, projectId: string): Promise<ProjectUsage> {
  const { rows } = await db.query<ProjectUsage>(
    `select to_char(${today}, 'YYYY-MM') as month,
            (select coalesce(max(m.admitted), 0) from monthly_runs m
             where m.project_id = $1 and m.month = date_trunc('month', ${today}))
              as "monthlyRuns",
            (select count(*) from runs r where r.project_id = $1 and occupies_slot(r))
              as "concurrentRuns",
            (select coalesce(max(o.count), 0) from open_sessions o where o.project_id = $1)
              as "openSessions"`,
    [projectId],
  );
  if (!rows[0]) throw new Error('the usage query returned no row');
  return rows[0];
}

async function purge(db: Db): Promise<void> {
  await db.query(`delete from key_usage where day <= ${today} - $1::integer`, [
    limits.key.usageDays,
  ]);
}
