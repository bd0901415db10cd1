import { type AuditAction, changedFields } from '../../../core/audit/audit-entry.ts';
import { type ChangeAuthor, recordFor } from '../accounts/record-entry.ts';
import type { Db } from '../client/pool.ts';

interface RunChange {
  runId: string;
  action: AuditAction;
  /** Empty by default, as the next one. */
  fieldsBefore?: string[];
  fieldsAfter?: string[];
}

/** Call it in the transaction of a change to a run or its session. */
export async function recordRunChange(
  db: Db,
  author: ChangeAuthor,
  { runId, action, fieldsBefore = [], fieldsAfter = [] }: RunChange,
): Promise<void> {
  if (author === undefined) return;
  const text = 'select project_id as "projectId" from runs where id = $1';
  const { rows } = await db.query<{ projectId: string }>(text, [runId]);
  const projectId = rows[0]?.projectId ?? null;
  await recordFor(db, author, { action, projectId, objectId: runId, fieldsBefore, fieldsAfter });
}

type Fields = Readonly<Record<string, unknown>>;

/** The same for a change that has no entry if all fields keep their values. */
export async function recordRunFields(
  db: Db,
  author: ChangeAuthor,
  {
    before,
    after,
    ...change
  }: Pick<RunChange, 'runId' | 'action'> & Record<'before' | 'after', Fields>,
): Promise<void> {
  const fields = changedFields(before, after);
  const isChanged = fields.fieldsBefore.length + fields.fieldsAfter.length > 0;
  if (isChanged) await recordRunChange(db, author, { ...change, ...fields });
}
