// Callers of the API end runs by recording the cause. The same statement stops the runs that the
// agent of the run has started; the reconciler signals their workflows. A change by an operator and
// its entry in the audit log are one transaction.

import type { Run } from '../../../core/runs/run.ts';
import { type ChangeAuthor, changeBy } from '../accounts/record-entry.ts';
import type { Pool } from '../client/pool.ts';
import { findRun } from './find-run.ts';
import { recordRunChange } from './record-run-change.ts';

export interface EndRequest {
  runId: string;
  cause: 'stopped_by_api' | 'interrupted_by_api';
  author: ChangeAuthor;
}

/** If two calls are concurrent, one of them records the cause. */
export function requestEnd(pool: Pool, { runId, cause, author }: EndRequest): Promise<void> {
  return changeBy(pool, author, async (db) => {
    const { rows } = await db.query<{ isSession: boolean }>(
      'select is_session as "isSession" from request_end($1, $2)',
      [runId, cause],
    );
    if (!rows[0]) return;
    const runAction = cause === 'stopped_by_api' ? 'run_stopped' : 'run_interrupted';
    const action = rows[0].isSession ? 'session_ended' : runAction;
    await recordRunChange(db, author, { runId, action });
  });
}

/** Does not end the run, but records the cause if it is active. */
export function markDeleted(pool: Pool, runId: string, author: ChangeAuthor): Promise<Run | null> {
  return changeBy(pool, author, async (db) => {
    const { rows } = await db.query<{ isMarked: boolean }>(
      'select mark_deleted($1) as "isMarked"',
      [runId],
    );
    if (rows[0]?.isMarked !== true) return null;
    await recordRunChange(db, author, { runId, action: 'run_deleted' });
    return findRun(db, runId);
  });
}
