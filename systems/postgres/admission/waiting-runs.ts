// Runs and sessions that wait for a slot of a host. They are rows of `runs`: `waiting_since` is set
// from the first claim that finds no slot, or from the hint that wakes a session, until the
// workflow has learnt its host.

import type { Pool } from '../client/pool.ts';

/** A run or session that has got its slot, or that need not wait any more. */
export interface AssignedRun {
  runId: string;
  workflowId: string;
  /** Null: the messages of the session were withdrawn, so its next claim ends the wait. */
  hostId: string | null;
  /** The API request that started the run. */
  requestId: string | null;
}

export async function assignWaiting(pool: Pool, hostStaleMs: number): Promise<AssignedRun[]> {
  const { rows } = await pool.query<AssignedRun>(
    `select run_id as "runId", workflow_id as "workflowId", host_id as "hostId",
       request_id as "requestId"
     from assign_waiting($1)`,
    [`${hostStaleMs} ms`],
  );
  return rows;
}

const pageSize = 200;

export interface UnclaimedRun extends AssignedRun {
  isSession: boolean;
}

export async function findUnclaimed(pool: Pool): Promise<UnclaimedRun[]> {
  const { rows } = await pool.query<UnclaimedRun>(
    `select r.id as "runId", r.workflow_id as "workflowId", r.host_id as "hostId",
       r.request_id as "requestId", r.session_id is not null as "isSession"
     from runs r
     where r.ended_at is null and r.waiting_since is not null
       and r.end_cause is null
       and (r.host_id is not null or r.session_id is not null and not session_has_work(r.id))
     order by r.waiting_since, r.id limit ${pageSize}`,
  );
  return rows;
}
