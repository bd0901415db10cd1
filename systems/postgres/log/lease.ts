// The lease of a run's log. Its token grows with every taking and every write compares it, so a
// holder who slept through the taking by another writes nothing more, whenever it wakes up. Expiry
// only says when others may take it; the holder itself may go on as long as nobody has.

import { type AgentState, initialAgentState } from '../../../core/agent/agent-state.ts';
import type { Db } from '../client/pool.ts';

export interface Lease {
  token: number;
  generation: number;
  byteOffset: number;
  lastSeq: number;
  agentState: AgentState;
}

export interface LeaseRequest {
  runId: string;
  owner: string;
  leaseMs: number;
  /** Take it from an earlier life of the same owner too. */
  evenFromSelf: boolean;
}

/** Null: another holds it, the run has ended, or there is no such run. */
export async function takeLease(db: Db, request: LeaseRequest): Promise<Lease | null> {
  const { rows } = await db.query<Omit<Lease, 'agentState'> & { agentState: string | null }>(
    `update run_logs
     set lease_token = lease_token + 1,
         lease_owner = $2,
         lease_expires_at = db_clock() + $3 * interval '1 ms'
     where run_id = $1
       and not is_final
       and (lease_expires_at is null or lease_expires_at <= db_clock() or ($4 and lease_owner = $2))
     returning lease_token as "token", generation, byte_offset as "byteOffset",
               last_seq as "lastSeq", agent_state as "agentState"`,
    [request.runId, request.owner, request.leaseMs, request.evenFromSelf],
  );
  const [row] = rows;
  return row === undefined ? null : { ...row, agentState: parseAgentState(row.agentState) };
}

/** Written by `appendFrames` alone. */
function parseAgentState(json: string | null): AgentState {
  return json === null ? initialAgentState : (JSON.parse(json) as AgentState);
}

/**
 * False: the lease is lost, or the run has ended; its holder must let go. What has not answered by
 * the time for which it asks never will: its connection is dropped, and the next one takes another.
 */
export async function renewLease(
  db: Db,
  { runId, token, leaseMs }: { runId: string; token: number; leaseMs: number },
): Promise<boolean> {
  const renewal = {
    text: `
      update run_logs set lease_expires_at = db_clock() + $3 * interval '1 ms'
      where run_id = $1 and lease_token = $2 and not is_final`,
    values: [runId, token, leaseMs],
    query_timeout: leaseMs,
  };
  const { rowCount } = await db.query(renewal);
  return rowCount === 1;
}

/**
 * A new sandbox has a spool of its own, read from its beginning. False: the lease is lost, or there is
 * a place for a later one by now.
 */
export async function beginGeneration(
  db: Db,
  { runId, token, generation }: { runId: string; token: number; generation: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with moved as (
       update run_logs set generation = $3, byte_offset = 0, agent_state = null
       where run_id = $1 and lease_token = $2 and not is_final and generation < $3
         and not exists (select from runs r where r.id = $1 and r.generation > $3)
       returning run_id
     )
     update runs r set generation = greatest(r.generation, $3) from moved where r.id = moved.run_id`,
    [runId, token, generation],
  );
  return rowCount === 1;
}
