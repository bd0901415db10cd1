import { limits } from '../../../core/limits.ts';
import { changedLabels, type LabelChange } from '../../../core/runs/labels.ts';
import type { Labels, Run } from '../../../core/runs/run.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { findRun } from './find-run.ts';

type LabelsChanged =
  | { outcome: 'changed'; run: Run }
  /** Nothing was changed: the run would exceed the limit of labels. */
  | { outcome: 'too-many' }
  /** The run was deleted. */
  | { outcome: 'gone' };

/** Locks the row first, so that concurrent changes are applied one after the other. */
export function changeLabels(
  pool: Pool,
  runId: string,
  change: LabelChange,
): Promise<LabelsChanged> {
  return inTransaction(pool, async (db) => {
    const before = await lockLabels(db, runId);
    if (before === null) return { outcome: 'gone' };
    const labels = changedLabels(before, change);
    if (Object.keys(labels).length > limits.label.maxCount) return { outcome: 'too-many' };
    const text = `
      update runs set labels = $2, admitted_labels = coalesce(admitted_labels, labels)
      where id = $1`;
    await db.query(text, [runId, JSON.stringify(labels)]);
    const run = await findRun(db, runId);
    return run === null ? { outcome: 'gone' } : { outcome: 'changed', run };
  });
}

async function lockLabels(db: Db, runId: string): Promise<Labels | null> {
  const text = 'select labels from runs where id = $1 and deleted_at is null for no key update';
  const { rows } = await db.query<{ labels: string }>(text, [runId]);
  // Only admission and the statement above write it, from a map of strings.
  return rows[0] ? (JSON.parse(rows[0].labels) as Labels) : null;
}
