// Callers of the API end runs by recording the cause. A change by an operator and its entry in the
// audit log are one transaction.

import type { AuditAction } from '../../../core/audit/audit-entry.ts';
import type { Run } from '../../../core/runs/run.ts';
import { type ChangeAuthor, changeBy, recordFor } from '../accounts/record-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { findRun } from './find-run.ts';

export interface EndRequest {
  runId: string;
  cause: 'stopped_by_api' | 'interrupted_by_api';
  author: ChangeAuthor;
}

/** If two calls are concurrent, one of them records the cause. */
export function requestEnd(pool: Pool, { runId, cause, author }: EndRequest): Promise<void> {
  return changeBy(pool, author, async (db) => {
    const { rows } = await db.query<EndedRun>(
      `update runs set end_cause = $2, end_cause_at = db_clock()
       where id = $1 and end_cause is null
       returning project_id as "projectId", session_id is not null as "isSession"`,
      [runId, cause],
    );
    if (rows[0]) await recordEnd(db, author, { ...rows[0], runId, cause });
  });
}

interface EndedRun {
  projectId: string;
  isSession: boolean;
}

function recordEnd(
  db: Db,
  author: ChangeAuthor,
  { projectId, isSession, runId, cause }: EndedRun & Pick<EndRequest, 'runId' | 'cause'>,
): Promise<void> {
  const runAction = cause === 'stopped_by_api' ? 'run_stopped' : 'run_interrupted';
  const action = isSession ? 'session_ended' : runAction;
  return recordForRun(db, author, { action, run: { projectId, runId } });
}

function recordForRun(
  db: Db,
  author: ChangeAuthor,
  { action, run }: { action: AuditAction; run: Pick<Run, 'projectId' | 'runId'> },
): Promise<void> {
  const object = { projectId: run.projectId, objectId: run.runId };
  return recordFor(db, author, { action, ...object, fieldsBefore: [], fieldsAfter: [] });
}

/** Does not end the run, but records the cause if it is active. */
export function markDeleted(pool: Pool, runId: string, author: ChangeAuthor): Promise<Run | null> {
  return changeBy(pool, author, async (db) => {
    const { rowCount } = await db.query(
      `update runs
       set deleted_at = db_clock(),
           end_cause = coalesce(end_cause, 'deleted_by_api'),
           end_cause_at = coalesce(end_cause_at, db_clock())
       where id = $1 and deleted_at is null`,
      [runId],
    );
    const run = rowCount === 1 ? await findRun(db, runId) : null;
    if (run !== null) await recordForRun(db, author, { action: 'run_deleted', run });
    return run;
  });
}
