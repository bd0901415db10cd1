// Each change by an operator and its entry are written in one transaction, so there is an entry for
// exactly the changes that were committed. Entries are only added and read.

import { randomUUID } from 'node:crypto';
import type { AuditAction, AuditEntry } from '../../../core/audit/audit-entry.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inBriefTransaction } from '../client/transaction.ts';
import { createEndpointChanges, type EndpointChanges } from '../endpoints/endpoint-store.ts';
import { createEventRequests, type EventRequests } from '../endpoints/event-store.ts';
import { createFlowChanges, type FlowChanges } from './flow-store.ts';
import { createKeyStore, type KeyStore } from './key-store.ts';
import { createOperatorTokenStore, type OperatorTokenStore } from './operator-token-store.ts';
import { createProjectStore, type ProjectStore } from './project-store.ts';

export type NewAuditEntry = Omit<AuditEntry, 'entryId' | 'at'>;

/** The stores of one transaction. */
export interface ChangeStores {
  projects: ProjectStore;
  flows: FlowChanges;
  keys: KeyStore;
  operatorTokens: OperatorTokenStore;
  endpoints: EndpointChanges;
  events: EventRequests;
  record: (entry: NewAuditEntry) => Promise<void>;
}

export interface AuditFilter {
  projectId?: string | undefined;
  operator?: string | undefined;
  action?: AuditAction | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

interface AuditQuery extends AuditFilter {
  limit: number;
  /** A page's `next`. */
  after?: string;
}

interface AuditPage {
  entries: AuditEntry[];
  next: string | null;
}

export type AuditLog = ReturnType<typeof createAuditLog>;

export function createAuditLog(pool: Pool, sealer: Sealer) {
  return {
    /** If `work` throws, nothing is changed and nothing is recorded. */
    change: <T>(work: (on: ChangeStores) => Promise<T>): Promise<T> =>
      inBriefTransaction(pool, (db) => work(storesIn(db, sealer))),
    /** Latest first. */
    page: (query: AuditQuery) => pageOfEntries(pool, query),
  };
}

function storesIn(db: Db, sealer: Sealer): ChangeStores {
  return {
    projects: createProjectStore(db, sealer),
    flows: createFlowChanges(db, sealer),
    keys: createKeyStore(db),
    operatorTokens: createOperatorTokenStore(db),
    endpoints: createEndpointChanges(db),
    events: createEventRequests(db),
    record: (entry) => insertEntry(db, entry),
  };
}

async function insertEntry(db: Db, entry: NewAuditEntry): Promise<void> {
  await db.query(
    `insert into audit_log
       (id, operator_id, operator, token_id, address, request_id, action, project_id, object_id,
        fields_before, fields_after)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      randomUUID(),
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

async function pageOfEntries(db: Db, query: AuditQuery): Promise<AuditPage> {
  const { limit, after, projectId, operator, action, from, to } = query;
  const { rows } = await db.query<AuditEntry>(
    `select id as "entryId", at, operator_id as "operatorId", operator, token_id as "tokenId",
            address, request_id as "requestId", action, project_id as "projectId",
            object_id as "objectId", fields_before as "fieldsBefore", fields_after as "fieldsAfter"
     from audit_log
     where ($1::text is null or project_id = $1)
       and ($2::text is null or operator = $2)
       and ($3::text is null or action = $3)
       and ($4::timestamptz is null or at >= $4)
       and ($5::timestamptz is null or at < $5)
       and ($6::uuid is null
            or (at, id) < (select a.at, a.id from audit_log a where a.id = $6))
     order by at desc, id desc
     limit $7`,
    [...[projectId, operator, action, from, to, after].map((value) => value ?? null), limit + 1],
  );
  const entries = rows.slice(0, limit);
  return { entries, next: rows.length > limit ? (entries.at(-1)?.entryId ?? null) : null };
}
