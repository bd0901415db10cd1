import { randomUUID } from 'node:crypto';
import type { AuditActor, AuditEntry } from '../../../core/audit/audit-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inBriefTransaction } from '../client/transaction.ts';

export type NewAuditEntry = Omit<AuditEntry, 'entryId' | 'at'>;

/** Call it in the transaction of the change. */
export async function recordEntry(db: Db, entry: NewAuditEntry): Promise<void> {
  await db.query(
    `insert into audit_log
       (id, source, operator_id, operator, token_id, address, request_id, action, project_id,
        object_id, fields_before, fields_after)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      randomUUID(),
      entry.source,
      entry.operatorId,
      entry.operator,
      entry.tokenId,
      entry.address,
      entry.requestId,
      entry.action,
      entry.projectId,
      entry.objectId,
      entry.fieldsBefore,
      entry.fieldsAfter,
    ],
  );
}

/** The operator who makes a change; undefined: an API key makes it, and nothing is recorded. */
export type ChangeAuthor = AuditActor | undefined;

/** One transaction for the change of an operator and its entry. */
export const changeBy = <T>(
  pool: Pool,
  author: ChangeAuthor,
  work: (db: Db) => Promise<T>,
): Promise<T> => (author === undefined ? work(pool) : inBriefTransaction(pool, work));

/** Call it in the transaction of the change. */
export async function recordFor(
  db: Db,
  author: ChangeAuthor,
  entry: Omit<NewAuditEntry, keyof AuditActor>,
): Promise<void> {
  if (author !== undefined) await recordEntry(db, { ...author, ...entry });
}
