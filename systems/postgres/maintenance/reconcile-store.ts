import type { RunOutline } from '../../../core/runs/run.ts';
import type { Db, Pool } from '../client/pool.ts';
import { type RunOutlineRow, selectOutlines, toOutline } from '../runs/run-row.ts';
import { hasBackgroundWork } from '../sessions/idle-state.ts';
import { before } from './before-now.ts';
import { importRuns, type MissingRun } from './import-runs.ts';
import { pendingWebhooks, type WebhookCursor } from './pending-webhooks.ts';

export type ReconcileStore = ReturnType<typeof createReconcileStore>;

export interface PendingRestore {
  restoredAt: Date;
  /** When the backup was made. */
  dumpedAt: Date;
}

/**
 * Inconsistencies, the oldest first and a bounded number per call; the reconciler calls again.
 * `after` is the run that the last page ended with: those after it come first, then the others.
 */
export function createReconcileStore(pool: Pool) {
  return {
    /** Admitted runs without a recorded start of their workflow. */
    unstarted: (olderThanMs: number, after?: string) => unstarted(pool, olderThanMs, after),
    /** Runs with a recorded end cause that have not ended. */
    unfinishedStops: (olderThanMs: number, after?: string) =>
      unfinishedStops(pool, olderThanMs, after),
    /** Every active run with a workflow, page by page in the order of the ids. */
    activeRuns: (limit: number, after?: string) => activeRuns(pool, limit, after ?? null),
    /** The active runs with these workflows. */
    activeRunsOf: (workflowIds: string[]) => activeRunsOf(pool, workflowIds),
    /** Without those that may move to another host. */
    runsOnLostHosts: (lostMs: number, after?: string) => runsOnLostHosts(pool, lostMs, after),
    sessionsOnLostHosts: (lostMs: number, after?: string) =>
      sessionsOnLostHosts(pool, lostMs, after),
    /**
     * Runs and sessions that may move: their hosts are leaving and have not started their
     * sandboxes.
     */
    unstartedOnLeavingHosts: (times: LeavingTimes, after?: string) =>
      unstartedOnLeavingHosts(pool, times, after),
    /**
     * Idle sessions without background work, with a sandbox on a host that is draining, or offers
     * them no model.
     */
    idleOnLeavingHosts: (after?: string) => idleOnLeavingHosts(pool, after),
    /**
     * Ended runs whose webhook was neither delivered nor dropped, or whose redelivery was not
     * started: page by page, in turn between the projects.
     */
    pendingWebhooks: (olderThanMs: number, after?: WebhookCursor) =>
      pendingWebhooks(pool, olderThanMs, after),
    /** The restore that was not yet compared with Temporal, if any. */
    pendingRestore: () => pendingRestore(pool),
    /** When the database was restored last; null: never. */
    lastRestoredAt: () => lastRestoredAt(pool),
    /** The workflows among these that belong to no run. */
    unknownWorkflows: (workflowIds: string[]) => unknownWorkflows(pool, workflowIds),
    /** Returns the ids of the runs that were inserted. */
    importRuns: (missing: MissingRun[]) => importRuns(pool, missing),
    /** Marks restores older than this as reconciled. Returns how many were pending. */
    markRestoresReconciled: (olderThanMs: number) => markRestoresReconciled(pool, olderThanMs),
  };
}

const pageSize = 200;

async function selectMany(db: Db, tail: string, values: unknown[]): Promise<RunOutline[]> {
  const { rows } = await db.query<RunOutlineRow>(`${selectOutlines} ${tail}`, values);
  return rows.map(toOutline);
}

/** Oldest first, starting after this run and wrapping around at the end. */
const pageAfter = (parameter: `$${number}`): string =>
  `order by (r.created_at, r.id) <=
       (select a.created_at, a.id from runs a where a.id = ${parameter}),
     r.created_at, r.id
   limit ${pageSize}`;

const unstarted = (db: Db, olderThanMs: number, after: string | undefined): Promise<RunOutline[]> =>
  selectMany(
    db,
    `where r.ended_at is null and r.workflow_started_at is null
       and r.created_at < ${before('$1')}
     ${pageAfter('$2')}`,
    [olderThanMs, after],
  );

const unfinishedStops = (
  db: Db,
  olderThanMs: number,
  after: string | undefined,
): Promise<RunOutline[]> =>
  selectMany(
    db,
    `where r.stopping_since < ${before('$1')}
     order by (r.stopping_since, r.id) <= (
         select a.stopping_since, a.id from runs a where a.id = $2
       ), r.stopping_since, r.id
     limit ${pageSize}`,
    [olderThanMs, after],
  );

const activeRuns = (db: Db, limit: number, after: string | null): Promise<RunOutline[]> =>
  selectMany(
    db,
    `where r.ended_at is null and r.workflow_started_at is not null
       and ($1::uuid is null or r.id > $1)
     order by r.id limit $2`,
    [after, limit],
  );

const activeRunsOf = (db: Db, workflowIds: string[]): Promise<RunOutline[]> =>
  selectMany(
    db,
    `where r.ended_at is null and r.workflow_started_at is not null
       and r.workflow_id = any($1::text[])`,
    [workflowIds],
  );

const idleOnLeavingHosts = (db: Db, after: string | undefined): Promise<RunOutline[]> =>
  selectMany(
    db,
    `join hosts h on h.id = r.host_id
     cross join lateral (select l.agent_state::json as of) m
     where (h.draining or not offers_model(h, r.project_id))
       and r.session_id is not null and r.holds_slot and r.ended_at is null
       and r.end_cause is null and not session_has_work(r.id) and not ${hasBackgroundWork}
     ${pageAfter('$1')}`,
    [after],
  );

const onLostHosts = `
  left join hosts h on h.id = r.host_id
  where r.host_id is not null and occupies_slot(r)
    and (h.id is null or h.last_seen < db_clock() - $1 * interval '1 ms')`;

const runsOnLostHosts = (
  db: Db,
  lostMs: number,
  after: string | undefined,
): Promise<RunOutline[]> =>
  selectMany(
    db,
    `${onLostHosts} and r.session_id is null and not (
       is_unstarted(r) and exists (select from flows f where f.id = r.flow_id and f.runner is null)
     )
     ${pageAfter('$2')}`,
    [lostMs, after],
  );

interface LeavingTimes {
  /** Null if no host may be declared lost now. */
  lostMs: number | null;
  /** How long a draining host may take to start a sandbox. */
  drainGraceMs: number;
  staleMs: number;
}

/**
 * A run stays on a draining host, which still starts it, unless another host has a free slot. On a
 * host that no longer offers it a model, its agent would get no answer.
 */
const unstartedOnLeavingHosts = (
  db: Db,
  { lostMs, drainGraceMs, staleMs }: LeavingTimes,
  after: string | undefined,
): Promise<RunOutline[]> =>
  selectMany(
    db,
    `join flows f on f.id = r.flow_id
     left join sessions s on s.run_id = r.id
     left join hosts h on h.id = r.host_id
     where r.host_id is not null and occupies_slot(r) and r.end_cause is null
       and r.workflow_started_at is not null and f.runner is null
       and case when s.run_id is null then is_unstarted(r)
                else s.started_generation < r.generation end
       and (h.id is null
         or h.stopped_at is not null
         or h.last_seen < db_clock() - $1 * interval '1 ms'
         or (not offers_model(h, r.project_id)
             or h.draining
               and coalesce(s.last_message_at, r.created_at) < db_clock() - $2 * interval '1 ms')
           and pick_host(r.project_id, null, $3 * interval '1 ms', db_clock(), h.id) is not null)
     ${pageAfter('$4')}`,
    [lostMs, drainGraceMs, staleMs, after],
  );

/** Another host takes the session over. */
const sessionsOnLostHosts = (
  db: Db,
  lostMs: number,
  after: string | undefined,
): Promise<RunOutline[]> =>
  selectMany(db, `${onLostHosts} and r.session_id is not null ${pageAfter('$2')}`, [lostMs, after]);

/** If several restores are pending, covers the union of their gaps. */
async function pendingRestore(db: Db): Promise<PendingRestore | null> {
  const { rows } = await db.query<PendingRestore>(
    `select max(restored_at) as "restoredAt", min(dumped_at) as "dumpedAt" from restores
     where reconciled_at is null
     having count(*) > 0`,
  );
  return rows[0] ?? null;
}

async function lastRestoredAt(db: Db): Promise<Date | null> {
  const text = 'select max(restored_at) as "restoredAt" from restores';
  const { rows } = await db.query<{ restoredAt: Date | null }>(text);
  return rows[0]?.restoredAt ?? null;
}

async function unknownWorkflows(db: Db, workflowIds: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select w.id from unnest($1::text[]) w(id)
     where not exists (select from runs r where r.workflow_id = w.id)`,
    [workflowIds],
  );
  return rows.map(({ id }) => id);
}

async function markRestoresReconciled(db: Db, olderThanMs: number): Promise<number> {
  const { rowCount } = await db.query(
    `update restores set reconciled_at = db_clock()
     where reconciled_at is null and restored_at < db_clock() - $1 * interval '1 ms'`,
    [olderThanMs],
  );
  return rowCount ?? 0;
}
