import { randomUUID } from 'node:crypto';
import type { AuditEntry } from '../../../core/audit/audit-entry.ts';
import type { Db } from '../client/pool.ts';

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
