import type { Run } from '../../core/run.ts';
import type { Db } from './pool.ts';
import { type RunRow, selectRuns, toRun } from './run-row.ts';

/**
 * The session that has been idle for longest where a run could go that waits for a place; null where
 * none is. Of several that wait, each gets another one, so that no more are put to sleep than needed.
 */
export async function idleInTheWay(
  db: Db,
  { runId, hostUnseenMs }: { runId: string; hostUnseenMs: number },
): Promise<Run | null> {
  const { rows } = await db.query<RunRow>(
    `with waiting as (
       select r.id, r.created_at, f.runner from runs r join flows f on f.id = r.flow_id
       where r.host_id is null and r.end_cause is null and takes_place(r)
     ),
     mine as (select * from waiting where id = $1)
     ${selectRuns}
     join sessions s on s.run_id = r.id join hosts h on h.id = r.host_id
     where r.ended_at is null and r.awake and r.end_cause is null and not session_has_work(r.id)
       and not h.draining and h.last_seen > db_clock() - $2 * interval '1 ms'
       and exists (select from mine where runner is null or runner = r.host_id)
     order by s.idle_since, r.id
     offset (
       select count(*) from waiting w, mine
       where (w.created_at, w.id) < (mine.created_at, mine.id)
     )
     limit 1`,
    [runId, hostUnseenMs],
  );
  return rows[0] ? toRun(rows[0]) : null;
}
