import type { Run } from '../../../core/runs/run.ts';
import type { Db } from '../client/pool.ts';
import { type RunRow, selectRuns, toRun } from '../runs/run-row.ts';
import { hasBackgroundWork } from '../sessions/idle-state.ts';

/** The session of a project that has been idle for longest; null if there is none. */
export async function findEvictableInProject(db: Db, projectId: string): Promise<Run | null> {
  const { rows } = await db.query<RunRow>(
    `${selectRuns} join (${idleSessions}) i on i.id = r.id
     where r.project_id = $1 order by i.has_background_work, i.idle_since limit 1`,
    [projectId],
  );
  return rows[0] ? toRun(rows[0]) : null;
}

/** An idle session, and the waiting run that gets its slot. */
export interface Eviction {
  waitingRunId: string;
  runId: string;
  workflowId: string;
  requestId: string | null;
  hostId: string;
}

/**
 * For each waiting run, the session that has been idle for longest on a host where the run may
 * start. Each gets another session, so that no more are evicted than needed. A run that may use a
 * free slot gets none: it is assigned that slot.
 */
export async function findEvictableOnHosts(db: Db, hostStaleMs: number): Promise<Eviction[]> {
  const waiting = await listWaiting(db, hostStaleMs);
  if (waiting.length === 0) return [];
  const hosts = waiting.flatMap(({ hostIds }) => hostIds);
  const supply = await listSupply(db, [...new Set(hosts)]);
  return waiting.flatMap(({ waitingRunId, hostIds }) => {
    const at = supply.findIndex(({ hostId }) => hostIds.includes(hostId));
    const [taken] = at < 0 ? [] : supply.splice(at, 1);
    return taken === undefined || taken.runId === null ? [] : [{ waitingRunId, ...taken }];
  });
}

/** How many of the longest-waiting runs with the same hosts, and of each host's idle sessions. */
const pageSize = 100;

interface WaitingRun {
  waitingRunId: string;
  /** Where it may start once a slot is free. */
  hostIds: string[];
}

/** Runs delay only those with the same hosts, which would get the same sessions. */
async function listWaiting(db: Db, hostStaleMs: number): Promise<WaitingRun[]> {
  const { rows } = await db.query<WaitingRun>(
    `with waiting as (
       select r.id, r.project_id, r.waiting_since, f.runner
       from runs r join flows f on f.id = r.flow_id
       where r.ended_at is null and r.waiting_since is not null and is_waiting(r)
     ),
     offers as (
       select *, min(project_id) over (partition by host_ids) as kind
       from (select distinct project_id from waiting) p cross join lateral (
         select array_agg(h.id order by h.id) as host_ids from hosts h
         where accepts_work(h, db_clock() - $1 * interval '1 ms') and offers_model(h, p.project_id)
       ) offering
     ),
     ranked as (
       select *, row_number() over (partition by kind, runner order by waiting_since, id) as nth
       from waiting join offers using (project_id)
       where runner = any (host_ids) or runner is null and host_ids is not null
     )
     select id as "waitingRunId",
       case when runner is null then host_ids else array[runner] end as "hostIds"
     from ranked where nth <= ${pageSize} order by waiting_since, id`,
    [hostStaleMs],
  );
  return rows;
}

/** A slot: a free one, or that of an idle session. */
type Supply = Omit<Eviction, 'waitingRunId'> | { hostId: string; runId: null };

/** Free slots first, then the sessions in the order of their eviction. */
async function listSupply(db: Db, hostIds: string[]): Promise<Supply[]> {
  const { rows } = await db.query<Supply>(
    `with free as (
       select h.id as host_id, h.capacity - count(r.id) as slots
       from hosts h left join runs r on r.host_id = h.id and occupies_slot(r)
       where h.id = any ($1) group by h.id
     ),
     idle as (
       select i.*, row_number() over (partition by i.host_id order by ${evictionOrder}) as nth
       from (${idleSessions}) i where i.host_id = any ($1)
     )
     select host_id as "hostId", null as "runId", null as "workflowId", null as "requestId"
     from free, generate_series(1, least(slots, ${pageSize}))
     union all (
       select i.host_id, i.id, r.workflow_id, r.request_id
       from idle i join runs r on r.id = i.id
       where i.nth <= ${pageSize} order by ${evictionOrder}
     )`,
    [hostIds],
  );
  return rows;
}

const evictionOrder = 'i.has_background_work, i.idle_since, i.id';

/**
 * Sessions that hold a slot and are idle. A session that waits for an answer of its user is not
 * idle, even if no message caused the question. A session with background work comes last,
 * because the work ends with its sandbox.
 */
const idleSessions = `
  select r.id, r.host_id, s.idle_since, ${hasBackgroundWork} as has_background_work
  from runs r join sessions s on s.run_id = r.id
  join run_logs l on l.run_id = r.id cross join lateral (select l.agent_state::json as of) m
  where r.ended_at is null and r.holds_slot and r.end_cause is null and not session_has_work(r.id)
    and not exists (select from interactions a where a.run_id = r.id and a.outcome is null)`;
