import type { Run } from '../../../core/runs/run.ts';
import type { Db } from '../client/pool.ts';
import { type RunRow, selectRuns, toRun } from './run-row.ts';

export async function findRun(db: Db, runId: string): Promise<Run | null> {
  const { rows } = await db.query<RunRow>(`${selectRuns} where r.id = $1`, [runId]);
  return rows[0] ? toRun(rows[0]) : null;
}
