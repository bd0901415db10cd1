import type { Run } from '../../../core/runs/run.ts';
import type { Db } from '../client/pool.ts';
import { type RunRow, selectRuns, toRun } from '../runs/run-row.ts';

/** The session of a project that has been idle for longest; null if there is none. */
export async function findEvictableInProject(db: Db, projectId: string): Promise<Run | null> {
  const { rows } = await db.query<RunRow>(
    `${selectRuns} join (${idleSessions}) i on i.id = r.id
     where r.project_id = $1 order by i.has_background_work, i.idle_since limit 1`,
    [projectId],
  );
  return rows[0] ? toRun(rows[0]) : null;
}

/**
 * The session that has been idle for longest on a host where a waiting run could start; null if
 * there is none. Each of several waiting runs gets another session, so that no more are evicted
 * than needed. A slot that was released meanwhile is not counted: the waiting run finds it when it
 * asks again.
 */
export async function findEvictableOnHosts(
  db: Db,
  { runId, hostStaleMs }: { runId: string; hostStaleMs: number },
): Promise<Run | null> {
  const { rows } = await db.query<RunRow>(
    `with waiting as (
       select r.id, r.created_at, r.project_id, f.runner as pinned_host
       from runs r join flows f on f.id = r.flow_id
       where r.host_id is null and r.end_cause is null and occupies_slot(r)
     ),
     mine as (
       select * from waiting
       where id = $1 and pick_host(project_id, pinned_host, $2 * interval '1 ms', db_clock()) is null
     ),
     idle as (
       select i.*, h as host from (${idleSessions}) i join hosts h on h.id = i.host_id
       where not h.draining and not h.disk_short and is_live(h, db_clock() - $2 * interval '1 ms')
         and exists (select from mine where ${mayRunOn('mine', 'h')})
     )
     ${selectRuns} join idle i on i.id = r.id
     order by i.has_background_work, i.idle_since, r.id
     offset (
       select count(*) from waiting w, mine
       where (w.created_at, w.id) < (mine.created_at, mine.id)
         and exists (select from idle where ${mayRunOn('w', '(idle.host)')})
     )
     limit 1`,
    [runId, hostStaleMs],
  );
  return rows[0] ? toRun(rows[0]) : null;
}

/** SQL that is true if the waiting run may start on this host once a slot is free. */
const mayRunOn = (waiting: string, host: string): string =>
  `(${waiting}.pinned_host is null or ${waiting}.pinned_host = ${host}.id)
     and offers_model(${host}, ${waiting}.project_id)`;

/**
 * Sessions that hold a slot and are idle. A session that waits for an answer of its user is not
 * idle, even if no message caused the question. A session with background tasks comes last, because
 * they end with its sandbox.
 */
const idleSessions = `
  select r.id, r.host_id, s.idle_since,
         coalesce((m.of ->> 'isInTurn')::boolean or (m.of ->> 'backgroundTasks')::integer > 0, false)
           as has_background_work
  from runs r join sessions s on s.run_id = r.id
  join run_logs l on l.run_id = r.id cross join lateral (select l.agent_state::json as of) m
  where r.ended_at is null and r.holds_slot and r.end_cause is null and not session_has_work(r.id)
    and not exists (select from interactions a where a.run_id = r.id and a.outcome is null)`;
