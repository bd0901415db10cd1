import { limits } from '../../../core/limits.ts';
import { changedLabels, type LabelChange } from '../../../core/runs/labels.ts';
import type { Labels, Run } from '../../../core/runs/run.ts';
import type { ChangeAuthor } from '../accounts/record-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { findRun } from './find-run.ts';
import { recordRunFields } from './record-run-change.ts';

type LabelsChanged =
  | { outcome: 'changed'; run: Run }
  /** Nothing was changed: the run would exceed the limit of labels. */
  | { outcome: 'too-many' }
  /** The run was deleted. */
  | { outcome: 'gone' };

interface RunLabelChange {
  runId: string;
  change: LabelChange;
  author: ChangeAuthor;
}

/** Locks the row first, so that concurrent changes are applied one after the other. */
export function changeLabels(
  pool: Pool,
  { runId, change, author }: RunLabelChange,
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
    if (run === null) return { outcome: 'gone' };
    const fields = { before: { labels: before }, after: { labels } };
    await recordRunFields(db, author, { runId, action: 'labels_changed', ...fields });
    return { outcome: 'changed', run };
  });
}

async function lockLabels(db: Db, runId: string): Promise<Labels | null> {
  const text = 'select labels from runs where id = $1 and deleted_at is null for no key update';
  const { rows } = await db.query<{ labels: string }>(text, [runId]);
  // Only admission and the statement above write it, from a map of strings.
  return rows[0] ? (JSON.parse(rows[0].labels) as Labels) : null;
}
