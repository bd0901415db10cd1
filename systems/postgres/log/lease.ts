// The lease of a run's log. Each time it is taken its token grows, and every write compares the
// token. A holder that was suspended while another process took the lease therefore writes nothing
// more. Expiry only decides when another process may take the lease. Until then the holder keeps
// it.

import { type AgentState, initialAgentState } from '../../../core/agent/agent-state.ts';
import type { Db } from '../client/pool.ts';

export interface Lease {
  token: number;
  generation: number;
  byteOffset: number;
  lastSeq: number;
  agentState: AgentState;
}

/** Which sandbox of a run. */
export interface SandboxGeneration {
  runId: string;
  generation: number;
}

/** Proves that its owner may write for this sandbox. */
export interface SandboxLease extends SandboxGeneration {
  token: number;
}

/** Whose files are stored. There is no token when the run has ended, because its log is final. */
export interface SnapshotRef extends SandboxGeneration {
  token?: number;
}

interface LeaseRequest {
  runId: string;
  owner: string;
  leaseMs: number;
}

/**
 * Null if another owner holds it, the run has ended, or there is no such run. An owner that was
 * restarted takes over its own lease at once, because its previous process is gone.
 */
export async function takeLease(db: Db, request: LeaseRequest): Promise<Lease | null> {
  const { rows } = await db.query<Omit<Lease, 'agentState'> & { agentState: string | null }>(
    `update run_logs
     set lease_token = lease_token + 1,
         lease_owner = $2,
         lease_expires_at = db_clock() + $3 * interval '1 ms'
     where run_id = $1
       and not is_final
       and (lease_expires_at is null or lease_expires_at <= db_clock() or lease_owner = $2)
     returning lease_token as "token", generation, byte_offset as "byteOffset",
               last_seq as "lastSeq", agent_state as "agentState"`,
    [request.runId, request.owner, request.leaseMs],
  );
  const [row] = rows;
  return row === undefined ? null : { ...row, agentState: parseAgentState(row.agentState) };
}

/** Only `appendFrames` writes it. */
function parseAgentState(json: string | null): AgentState {
  return json === null ? initialAgentState : (JSON.parse(json) as AgentState);
}

/** `over_quota`: renewed, but the storage quota of the project is used up. */
export type LeaseRenewal = 'renewed' | 'over_quota' | 'lost';

/**
 * `lost`: another owner has it or the run has ended, so the holder must stop writing. A connection
 * that has not answered within the lease's time is dropped, and the next call uses another one.
 */
export async function renewLease(
  db: Db,
  { runId, token, leaseMs }: { runId: string; token: number; leaseMs: number },
): Promise<LeaseRenewal> {
  const renewal = {
    name: 'renew_lease',
    text: `
      update run_logs set lease_expires_at = db_clock() + $3 * interval '1 ms'
      where run_id = $1 and lease_token = $2 and not is_final
      returning exists (
        select from runs r cross join lateral storage_over_quota(r.project_id) where r.id = $1
      ) as "isOverQuota"`,
    values: [runId, token, leaseMs],
    query_timeout: leaseMs,
  };
  const { rows } = await db.query<{ isOverQuota: boolean }>(renewal);
  if (!rows[0]) return 'lost';
  return rows[0].isOverQuota ? 'over_quota' : 'renewed';
}

/** The lease of a run's log, with the token that proves it. */
export interface LogLease {
  runId: string;
  token: number;
}

/** `busy`: not renewed, because another transaction is writing the log. */
export type RenewalInBatch = LeaseRenewal | 'busy';

/**
 * Renews many leases in one statement, and answers in their order. A log that is being written is
 * skipped, because one log must not delay the leases of the others.
 */
export async function renewLeases(
  db: Db,
  { leases, leaseMs }: { leases: readonly LogLease[]; leaseMs: number },
): Promise<RenewalInBatch[]> {
  const renewal = {
    name: 'renew_leases',
    text: `
      with held as (
        select * from unnest($1::uuid[], $2::bigint[]) with ordinality as h (run_id, token, place)
      ), unlocked as (
        select l.run_id from held h join run_logs l on l.run_id = h.run_id
        where l.lease_token = h.token and not l.is_final
        for no key update of l skip locked
      ), renewed as (
        update run_logs l set lease_expires_at = db_clock() + $3 * interval '1 ms'
        from unlocked u where l.run_id = u.run_id
        returning l.run_id, l.lease_token
      ), over_quota as (
        select p.id from projects p cross join lateral storage_over_quota(p.id)
        where p.id in (select r.project_id from runs r join held h on h.run_id = r.id)
      )
      select l.run_id is not null as "isCurrent", n.run_id is not null as "isRenewed",
             r.project_id in (select id from over_quota) as "isOverQuota"
      from held h
      left join runs r on r.id = h.run_id
      left join run_logs l on l.run_id = h.run_id and l.lease_token = h.token and not l.is_final
      left join renewed n on n.run_id = h.run_id and n.lease_token = h.token
      order by h.place`,
    values: [leases.map(({ runId }) => runId), leases.map(({ token }) => token), leaseMs],
    query_timeout: leaseMs,
  };
  const { rows } = await db.query<RenewedRow>(renewal);
  return rows.map(renewalOf);
}

interface RenewedRow {
  /** When the statement began. */
  isCurrent: boolean;
  isRenewed: boolean;
  /** Null if there is no such run. */
  isOverQuota: boolean | null;
}

function renewalOf({ isCurrent, isRenewed, isOverQuota }: RenewedRow): RenewalInBatch {
  if (isRenewed) return isOverQuota === true ? 'over_quota' : 'renewed';
  return isCurrent ? 'busy' : 'lost';
}

/**
 * A new sandbox has its own spool, which is read from the start. False if the lease is lost, or if
 * a later sandbox has a slot already.
 */
export async function beginGeneration(
  db: Db,
  { runId, token, generation }: SandboxLease,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with advanced as (
       update run_logs set generation = $3, byte_offset = 0, agent_state = null
       where run_id = $1 and lease_token = $2 and not is_final and generation < $3
         and not exists (select from runs r where r.id = $1 and r.generation > $3)
       returning run_id
     )
     update runs r set generation = greatest(r.generation, $3)
     from advanced where r.id = advanced.run_id`,
    [runId, token, generation],
  );
  return rowCount === 1;
}
