import type { EndCause } from '../../core/end-cause.ts';
import { storableText } from '../../core/plain-text.ts';
import type { AgentStatus, Run } from '../../core/run.ts';
import { type EndRunRequest, endRun } from './end-run.ts';
import { findRun } from './find-run.ts';
import type { Db, Pool } from './pool.ts';
import { type RunRow, selectRuns, toRun } from './run-row.ts';
import { readSandboxPlan } from './sandbox-plan.ts';
import type { Sealer } from './seal.ts';

export interface CauseRequest {
  runId: string;
  cause: EndCause;
  detail: string | null;
}

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore(pool: Pool, sealer: Sealer) {
  return {
    /** A deleted run too: its `deletedAt` is set. */
    find: (runId: string) => findRun(pool, runId),
    /** The cause that stands, this one or an earlier; null where there is no such run. */
    recordCause: (request: CauseRequest) => recordCause(pool, request),
    /** Deletes once: null where there is no such run any more. */
    markDeleted: (runId: string) => markDeleted(pool, runId),
    /** Safe to repeat. */
    markWorkflowStarted: (runId: string) => markWorkflowStarted(pool, runId),
    /** True the first time. */
    markStarted: (runId: string, generation: number, agentStatus: AgentStatus) =>
      markStarted(pool, { runId, generation, agentStatus }),
    endRun: (request: EndRunRequest) => endRun(pool, request),
    /** Null where there is no such run. */
    sandboxPlan: (runId: string) => readSandboxPlan(pool, sealer, runId),
    liveOnHost: (hostId: string) => liveOnHost(pool, hostId),
    /** What the snapshot left out, and why. */
    recordSnapshot: (runId: string, snapshot: object) => recordSnapshot(pool, runId, snapshot),
  };
}

/** Of two callers at once the later finds the earlier one's cause: the row is read again under lock. */
async function recordCause(db: Db, request: CauseRequest): Promise<EndCause | null> {
  const { rows } = await db.query<{ end_cause: EndCause }>(
    `update runs
     set end_cause = coalesce(end_cause, $2),
         end_detail = case when end_cause is null then $3 else end_detail end,
         end_cause_at = coalesce(end_cause_at, db_clock())
     where id = $1
     returning end_cause`,
    [request.runId, request.cause, request.detail && storableText(request.detail)],
  );
  return rows[0]?.end_cause ?? null;
}

/** Ends nothing by itself, but records the cause where the run is still alive. */
async function markDeleted(db: Db, runId: string): Promise<Run | null> {
  const { rowCount } = await db.query(
    `update runs
     set deleted_at = db_clock(),
         end_cause = coalesce(end_cause, 'deleted_by_api'),
         end_cause_at = coalesce(end_cause_at, db_clock())
     where id = $1 and deleted_at is null`,
    [runId],
  );
  return rowCount === 1 ? findRun(db, runId) : null;
}

async function markWorkflowStarted(db: Db, runId: string): Promise<void> {
  const text = `
    update runs set workflow_started_at = db_clock()
    where id = $1 and workflow_started_at is null`;
  await db.query(text, [runId]);
}

async function markStarted(
  db: Db,
  {
    runId,
    generation,
    agentStatus,
  }: { runId: string; generation: number; agentStatus: AgentStatus },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update runs set started_at = db_clock(), agent_status = coalesce(agent_status, $3)
     where id = $1 and generation = $2 and started_at is null and ended_at is null`,
    [runId, generation, agentStatus],
  );
  return rowCount === 1;
}

async function liveOnHost(db: Db, hostId: string): Promise<Run[]> {
  const text = `${selectRuns} where r.host_id = $1 and r.ended_at is null order by r.created_at, r.id`;
  const { rows } = await db.query<RunRow>(text, [hostId]);
  return rows.map(toRun);
}

async function recordSnapshot(db: Db, runId: string, snapshot: object): Promise<void> {
  const text = 'update runs set snapshot = $2 where id = $1';
  await db.query(text, [runId, JSON.stringify(snapshot)]);
}
