// Requests of API processes to the host of a run, with their results. A row exists until its result
// was read or the request has expired.

import type { Db, Pool } from '../client/pool.ts';

export interface HostRpcRow {
  requestId: string;
  runId: string;
  kind: string;
  /** JSON text. */
  payload: string;
}

export type HostRpcStore = ReturnType<typeof createHostRpcStore>;

export function createHostRpcStore(pool: Pool) {
  return {
    open: (request: HostRpcRow & { hostId: string; ttlMs: number }) => insert(pool, request),
    /** Returns the result as JSON text and deletes the row; null if there is no result yet. */
    takeResult: (requestId: string) => takeResult(pool, requestId),
    /** Deletes the request; returns the result if there is one after all. */
    withdraw: (requestId: string) => withdraw(pool, requestId),
    /**
     * Requests without a result, the oldest first. A host that died while it served one finds it
     * again.
     */
    listOpen: (hostId: string, limit: number) => listOpen(pool, hostId, limit),
    /** The first result counts. Has no effect once the request is gone. */
    setResult: (requestId: string, result: string) => setResult(pool, requestId, result),
    /** Deletes expired requests. */
    removeExpired: () => removeExpired(pool),
  };
}

async function insert(
  db: Db,
  request: HostRpcRow & { hostId: string; ttlMs: number },
): Promise<void> {
  await db.query(
    `insert into host_rpc_requests (id, host_id, run_id, kind, payload, expires_at)
     values ($1, $2, $3, $4, $5, db_clock() + $6::interval)`,
    [
      request.requestId,
      request.hostId,
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

async function listOpen(db: Db, hostId: string, limit: number): Promise<HostRpcRow[]> {
  const { rows } = await db.query<HostRpcRow>(
    `select id as "requestId", run_id as "runId", kind, payload from host_rpc_requests
     where host_id = $1 and result is null and expires_at > db_clock()
     order by expires_at, id limit $2`,
    [hostId, limit],
  );
  return rows;
}

async function setResult(db: Db, requestId: string, result: string): Promise<void> {
  const text = 'update host_rpc_requests set result = $2 where id = $1 and result is null';
  await db.query(text, [requestId, result]);
}

async function removeExpired(db: Db): Promise<void> {
  await db.query('delete from host_rpc_requests where expires_at <= db_clock()');
}
