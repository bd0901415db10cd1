import type { Run } from '../../../core/runs/run.ts';
import type { Db } from '../client/pool.ts';
import { type RunRow, selectRuns, toRun } from './run-row.ts';

export async function findRun(db: Db, runId: string): Promise<Run | null> {
  const text = `${selectRuns} where r.id = $1`;
  const { rows } = await db.query<RunRow>({ name: 'find_run', text, values: [runId] });
  return rows[0] ? toRun(rows[0]) : null;
}
