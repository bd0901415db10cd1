import { limits } from '../../../core/limits.ts';
import { changedLabels, type LabelChange } from '../../../core/runs/labels.ts';
import type { Labels, Run } from '../../../core/runs/run.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { findRun } from './find-run.ts';

type LabelsChanged =
  | { outcome: 'changed'; run: Run }
  /** Nothing was changed: there would be more labels than a run may have. */
  | { outcome: 'too-many' }
  /** The run was deleted. */
  | { outcome: 'gone' };

/** The row is locked first, so of two changes at once the later is made to what the earlier left. */
export function changeLabels(
  pool: Pool,
  runId: string,
  change: LabelChange,
): Promise<LabelsChanged> {
  return inTransaction(pool, async (db) => {
    const before = await lockLabels(db, runId);
    if (before === null) return { outcome: 'gone' };
    const labels = changedLabels(before, change);
    if (Object.keys(labels).length > limits.labelsMax) return { outcome: 'too-many' };
    const text = 'update runs set labels = $2 where id = $1';
    await db.query(text, [runId, JSON.stringify(labels)]);
    const run = await findRun(db, runId);
    return run === null ? { outcome: 'gone' } : { outcome: 'changed', run };
  });
}

async function lockLabels(db: Db, runId: string): Promise<Labels | null> {
  const text = 'select labels from runs where id = $1 and deleted_at is null for no key update';
  const { rows } = await db.query<{ labels: string }>(text, [runId]);
  // Written by admission and by the statement above alone, from a map of strings.
  return rows[0] ? (JSON.parse(rows[0].labels) as Labels) : null;
}
