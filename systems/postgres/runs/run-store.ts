import type { EndCause } from '../../../core/runs/end-cause.ts';
import type { LabelChange } from '../../../core/runs/labels.ts';
import type { AgentStatus, Run } from '../../../core/runs/run.ts';
import { stripUnstorable } from '../../../core/sanitize-text.ts';
import type { ChangeAuthor } from '../accounts/record-entry.ts';
import { readSandboxPlan } from '../admission/sandbox-plan.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import type { SnapshotRef } from '../log/lease.ts';
import { type EndRunRequest, endRun } from './end-run.ts';
import { findRun } from './find-run.ts';
import { type EndRequest, markDeleted, requestEnd } from './request-end.ts';
import { changeLabels } from './run-labels.ts';
import { listRuns, type RunListQuery } from './run-list.ts';
import { type RunRow, selectRuns, toRun } from './run-row.ts';
import { findStoredFiles, recordSnapshot, type SnapshotRecord } from './snapshot-record.ts';
import { readTriggerFields } from './trigger-fields.ts';

interface CauseRequest {
  runId: string;
  cause: EndCause;
  detail: string | null;
  /** The sandbox that reports the cause: nothing is recorded if a later one has superseded it. */
  generation?: number;
}

/** Called after the transaction has committed. */
export interface RunObserver {
  /** `waitedMs`: since admission. */
  onStarted?: (started: { runId: string; requestId: string | null; waitedMs: number }) => void;
  onEnded?: (run: Run) => void;
}

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore(pool: Pool, sealer: Sealer, observer: RunObserver = {}) {
  return {
    /** Also finds a deleted run: its `deletedAt` is set. */
    find: (runId: string) => findRun(pool, runId),
    /** Null if a schedule started the run, and if there is no such run. */
    findRequestId: (runId: string) => findRequestId(pool, runId),
    /** Without deleted runs. */
    list: (projectId: string, query: RunListQuery) => listRuns(pool, projectId, query),
    changeLabels: (runId: string, change: LabelChange, author?: ChangeAuthor) =>
      changeLabels(pool, { runId, change, author }),
    /**
     * The cause that was recorded first, which may be this one; null if there is no such run or
     * generation.
     */
    recordCause: (request: CauseRequest) => recordCause(pool, request),
    /** Records `timed_out` if the run is this long past its time limit, by Postgres's clock. */
    recordOverdue: (runId: string, overdueMs: number) => recordOverdue(pool, runId, overdueMs),
    /** Records the cause of the end that a caller requests, unless there is one. */
    requestEnd: (request: EndRequest) => requestEnd(pool, request),
    /** Null if the run was deleted before or does not exist. */
    markDeleted: (runId: string, author?: ChangeAuthor) => markDeleted(pool, runId, author),
    /** Safe to repeat. */
    markWorkflowStarted: (runId: string) => markWorkflowStarted(pool, runId),
    /** The same for many runs. Returns those whose rows are locked, to mark again. */
    markWorkflowsStarted: (runIds: string[]) => markWorkflowsStarted(pool, runIds),
    /** True at the first call. */
    markStarted: (runId: string, generation: number, agentStatus: AgentStatus) =>
      markStarted(pool, { runId, generation, agentStatus }, observer.onStarted),
    /** Marks the run as answered by the offline model, if this host may use it for the run. */
    claimOfflineModel: (runId: string, hostId: string) => claimOfflineModel(pool, runId, hostId),
    endRun: (request: EndRunRequest) => endRun(pool, request, observer.onEnded),
    /** Null if there is no such run. */
    sandboxPlan: (runId: string) => readSandboxPlan(pool, sealer, runId),
    /** Throws if there is no such run. */
    triggerFields: (runId: string) => readTriggerFields(pool, runId),
    activeOnHost: (hostId: string) => activeOnHost(pool, hostId),
    /** The sandboxes whose folders the host needs. */
    neededOnHost: (hostId: string) => neededOnHost(pool, hostId),
    /**
     * True if the list of omitted entries has changed since the last snapshot; a new frame of the
     * log announces it. Changes nothing if the run has a later sandbox, or if another host has the
     * lease.
     */
    recordSnapshot: (of: SnapshotRef, snapshot: SnapshotRecord) =>
      recordSnapshot(pool, of, snapshot),
    /** Null if there were no files to store, and once they are removed. */
    findStoredFiles: (runId: string) => findStoredFiles(pool, runId),
  };
}

/** False if the offline model must not answer. A run that it has answered before keeps it. */
async function claimOfflineModel(db: Db, runId: string, hostId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update runs r set offline_model = true
     where r.id = $1 and (r.offline_model or exists (
       select from hosts h where h.id = $2 and offers_model(h, r.project_id)))`,
    [runId, hostId],
  );
  return rowCount === 1;
}

async function findRequestId(db: Db, runId: string): Promise<string | null> {
  const text = 'select request_id as id from runs where id = $1';
  const { rows } = await db.query<{ id: string | null }>(text, [runId]);
  return rows[0]?.id ?? null;
}

/**
 * If two calls are concurrent, the later one returns the cause of the earlier one, because the row
 * is read again under its lock.
 */
async function recordCause(db: Db, request: CauseRequest): Promise<EndCause | null> {
  const { rows } = await db.query<{ end_cause: EndCause }>(
    `update runs
     set end_cause = coalesce(end_cause, $2),
         end_detail = case when end_cause is null then $3 else end_detail end,
         end_cause_at = coalesce(end_cause_at, db_clock())
     where id = $1 and ($4::integer is null or generation = $4)
     returning end_cause`,
    [
      request.runId,
      request.cause,
      request.detail && stripUnstorable(request.detail),
      request.generation ?? null,
    ],
  );
  return rows[0]?.end_cause ?? null;
}

async function recordOverdue(db: Db, runId: string, overdueMs: number): Promise<void> {
  await db.query(
    `update runs set end_cause = 'timed_out', end_cause_at = db_clock()
     where id = $1 and end_cause is null
       and db_clock() >= coalesce(started_at, created_at)
         + timeout_seconds * interval '1 s' + $2 * interval '1 ms'`,
    [runId, overdueMs],
  );
}

async function markWorkflowStarted(db: Db, runId: string): Promise<void> {
  const text = `
    update runs set workflow_started_at = db_clock()
    where id = $1 and workflow_started_at is null`;
  await db.query(text, [runId]);
}

async function markWorkflowsStarted(db: Db, runIds: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with unlocked as (
       select id from runs where id = any($1) for no key update skip locked
     ),
     marked as (
       update runs set workflow_started_at = db_clock()
       where id in (select id from unlocked) and workflow_started_at is null
     )
     select id from runs
     where id = any($1) and workflow_started_at is null and id not in (select id from unlocked)`,
    [runIds],
  );
  return rows.map(({ id }) => id);
}

async function markStarted(
  db: Db,
  {
    runId,
    generation,
    agentStatus,
  }: { runId: string; generation: number; agentStatus: AgentStatus },
  onStarted?: RunObserver['onStarted'],
): Promise<boolean> {
  const { rows } = await db.query<{ requestId: string | null; waitedMs: number }>(
    `with started as (
       update runs set started_at = db_clock(), agent_status = coalesce(agent_status, $3)
       where id = $1 and generation = $2 and started_at is null and ended_at is null
       returning *
     )
     select request_id as "requestId",
       (extract(epoch from started_at - created_at) * 1000)::double precision as "waitedMs",
       add_event(project_id, 'run.started', json_build_object(
         'status', status, 'agentStatus', agent_status, 'triggerType', trigger_type,
         'startedAt', iso_timestamp(started_at)
       ), id)
     from started`,
    [runId, generation, agentStatus],
  );
  if (!rows[0]) return false;
  onStarted?.({ runId, ...rows[0] });
  return true;
}

async function activeOnHost(db: Db, hostId: string): Promise<Run[]> {
  const text = `${selectRuns} where r.host_id = $1 and occupies_slot(r) order by r.created_at, r.id`;
  const { rows } = await db.query<RunRow>(text, [hostId]);
  return rows.map(toRun);
}

/** The sandbox of an active run, or of an ended one whose files are not stored. */
interface NeededSandbox {
  runId: string;
  generation: number;
  hasUnstoredFiles: boolean;
}

async function neededOnHost(db: Db, hostId: string): Promise<NeededSandbox[]> {
  const { rows } = await db.query<NeededSandbox>(
    `select r.id as "runId", r.generation, false as "hasUnstoredFiles" from runs r
     where r.host_id = $1 and occupies_slot(r)
     union all
     select id, generation, true from runs
     where host_id = $1 and has_unstored_files and files_purged_at is null and deleted_at is null`,
    [hostId],
  );
  return rows;
}
