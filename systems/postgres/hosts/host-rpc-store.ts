// Requests of API processes to the host of a run, with their results. A row exists until its result
// was read or the request has expired.

import { type ChangeAuthor, changeBy } from '../accounts/record-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { recordRunChange } from '../runs/record-run-change.ts';

interface HostRpcRow {
  requestId: string;
  projectId: string;
  runId: string;
  kind: string;
  /** JSON text. */
  payload: string;
}

interface NewHostRpc extends HostRpcRow {
  hostId: string;
  ttlMs: number;
  /** The operator who adds files by it. */
  author?: ChangeAuthor;
}

/** Identical requests, which one execution serves. */
export interface HostCall extends Omit<HostRpcRow, 'requestId'> {
  requestIds: string[];
  /** Until the last of the requests expires. */
  leftMs: number;
}

interface OpenCallsQuery {
  hostId: string;
  /** Requests that are being served. */
  served: string[];
  /** A kind of calls that have to wait, and the runs for which they have to. */
  paced: { kind: string; runIds: string[] };
  limit: number;
}

export type HostRpcStore = ReturnType<typeof createHostRpcStore>;

export function createHostRpcStore(pool: Pool) {
  return {
    /**
     * With an author, the entry in the audit log is written in the same transaction: no host can
     * serve the request before.
     */
    open: ({ author, ...request }: NewHostRpc) =>
      changeBy(pool, author, async (db) => {
        await insert(db, request);
        const change = { runId: request.runId, fieldsAfter: ['files'] };
        await recordRunChange(db, author, { ...change, action: 'run_files_added' });
      }),
    /** Returns the result as JSON text and deletes the row; null if there is no result yet. */
    takeResult: (requestId: string) => takeResult(pool, requestId),
    /** Deletes the request; returns the result if there is one after all. */
    withdraw: (requestId: string) => withdraw(pool, requestId),
    /**
     * Calls without a result: of each project the oldest, then of each the second, and so on. A
     * host that died while it served one finds it again.
     */
    listOpen: (query: OpenCallsQuery) => listOpen(pool, query),
    /** The first result counts. Has no effect on requests that are gone. */
    setResult: (requestIds: string[], result: string) => setResult(pool, requestIds, result),
    /** Deletes expired requests. */
    removeExpired: () => removeExpired(pool),
  };
}

async function insert(db: Db, request: Omit<NewHostRpc, 'author'>): Promise<void> {
  await db.query(
    `insert into host_rpc_requests (id, host_id, project_id, run_id, kind, payload, expires_at)
     values ($1, $2, $3, $4, $5, $6, db_clock() + $7::interval)`,
    [
      request.requestId,
      request.hostId,
      request.projectId,
      request.runId,
      request.kind,
      request.payload,
      `${request.ttlMs} ms`,
    ],
  );
}

async function takeResult(db: Db, requestId: string): Promise<string | null> {
  const text =
    'delete from host_rpc_requests where id = $1 and result is not null returning result';
  const { rows } = await db.query<{ result: string }>(text, [requestId]);
  return rows[0]?.result ?? null;
}

async function withdraw(db: Db, requestId: string): Promise<string | null> {
  const text = 'delete from host_rpc_requests where id = $1 returning result';
  const { rows } = await db.query<{ result: string | null }>(text, [requestId]);
  return rows[0]?.result ?? null;
}

async function listOpen(
  db: Db,
  { hostId, served, paced, limit }: OpenCallsQuery,
): Promise<HostCall[]> {
  const { rows } = await db.query<HostCall>(
    `select array_agg(id) as "requestIds", project_id as "projectId", run_id as "runId", kind,
       payload, date_part('epoch', max(expires_at) - db_clock()) * 1000 as "leftMs"
     from host_rpc_requests
     where host_id = $1 and result is null and expires_at > db_clock()
       and id <> all ($2) and not (kind = $3 and run_id = any ($4))
     group by project_id, run_id, kind, payload
     order by row_number() over (partition by project_id order by min(expires_at), run_id),
       min(expires_at)
     limit $5`,
    [hostId, served, paced.kind, paced.runIds, limit],
  );
  return rows;
}

async function setResult(db: Db, requestIds: string[], result: string): Promise<void> {
  const text = 'update host_rpc_requests set result = $2 where id = any ($1) and result is null';
  await db.query(text, [requestIds, result]);
}

async function removeExpired(db: Db): Promise<void> {
  await db.query('delete from host_rpc_requests where expires_at <= db_clock()');
}
