// Each change and its entry are written in one transaction, so there is an entry for exactly the
// changes that were committed. Entries are only added and read: a trigger rejects everything else.

import type { AuditAction, AuditActor, AuditEntry } from '../../../core/audit/audit-entry.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inBriefTransaction } from '../client/transaction.ts';
import { createEndpointChanges, type EndpointChanges } from '../endpoints/endpoint-store.ts';
import { createEventRequests, type EventRequests } from '../endpoints/event-store.ts';
import { recordedEndpointChanges } from '../endpoints/recorded-endpoints.ts';
import { createFlowFileChanges, type FlowFileChanges } from '../files/version-files.ts';
import { createHostChanges, type HostChanges } from '../hosts/host-store.ts';
import { createRedeliveryRequests, type RedeliveryRequests } from '../runs/webhook-store.ts';
import { createFlowChanges, type FlowChanges } from './flow-store.ts';
import { recordedFlowChanges } from './flows/recorded-flows.ts';
import { createKeyStore, type KeyStore } from './key-store.ts';
import { createOperatorStore, type OperatorStore } from './operator-store.ts';
import { createOperatorTokenStore, type OperatorTokenStore } from './operator-token-store.ts';
import { createProjectStore, type ProjectStore } from './project-store.ts';
import { type NewAuditEntry, recordEntry } from './record-entry.ts';
import { recordedChanges } from './recorded-changes.ts';
import { type BudgetHolder, reportBudgets } from './report-budgets.ts';

/** The stores of one transaction. */
interface ChangeStores {
  projects: ProjectStore;
  flows: FlowChanges;
  flowFiles: FlowFileChanges;
  keys: KeyStore;
  operatorTokens: OperatorTokenStore;
  endpoints: EndpointChanges;
  events: EventRequests;
  operators: OperatorStore;
  webhooks: RedeliveryRequests;
  hosts: HostChanges;
  reportBudgets: (holder: BudgetHolder) => Promise<void>;
  record: (entry: NewAuditEntry) => Promise<void>;
}

/** Stores of one transaction, for changes by one actor. */
export type RecordedChange = ReturnType<typeof boundTo>;

export interface AuditFilter {
  projectId?: string | undefined;
  operator?: string | undefined;
  action?: AuditAction | undefined;
  source?: AuditActor['source'] | undefined;
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
    /** Rolls back the change and its entry if `work` throws. */
    change: <T>(work: (on: ChangeStores) => Promise<T>): Promise<T> =>
      inBriefTransaction(pool, (db) => work(storesIn(db, sealer))),
    /** Like `change`, for an actor that is known beforehand. */
    changeAs: <T>(actor: AuditActor, work: (on: RecordedChange) => Promise<T>): Promise<T> =>
      inBriefTransaction(pool, (db) => work(boundTo(actor, storesIn(db, sealer)))),
    /** Latest first. */
    page: (query: AuditQuery) => pageOfEntries(pool, query),
  };
}

function storesIn(db: Db, sealer: Sealer): ChangeStores {
  return {
    projects: createProjectStore(db, sealer),
    flows: createFlowChanges(db, sealer),
    flowFiles: createFlowFileChanges(db),
    keys: createKeyStore(db),
    operatorTokens: createOperatorTokenStore(db),
    endpoints: createEndpointChanges(db),
    events: createEventRequests(db),
    operators: createOperatorStore(db),
    webhooks: createRedeliveryRequests(db),
    hosts: createHostChanges(db),
    reportBudgets: (holder) => reportBudgets(db, holder),
    record: (entry) => recordEntry(db, entry),
  };
}

function boundTo(actor: AuditActor, stores: ChangeStores) {
  const record = (entry: Omit<NewAuditEntry, keyof AuditActor>) =>
    stores.record({ ...actor, ...entry });
  const by = actor.operator ?? actor.address;
  const on = { ...stores, record, by };
  return {
    ...on,
    ...recordedChanges(on),
    ...recordedFlowChanges(on),
    ...recordedEndpointChanges(on),
  };
}

async function pageOfEntries(db: Db, query: AuditQuery): Promise<AuditPage> {
  const { limit, after, projectId, operator, action, from, to, source } = query;
  const { rows } = await db.query<AuditEntry>(
    `select id as "entryId", at, source, operator_id as "operatorId", operator,
            token_id as "tokenId", address, request_id as "requestId", action,
            project_id as "projectId", object_id as "objectId", fields_before as "fieldsBefore",
            fields_after as "fieldsAfter"
     from audit_log
     where ($1::text is null or project_id = $1)
       and ($2::text is null or operator = $2)
       and ($3::text is null or action = $3)
       and ($4::timestamptz is null or at >= $4)
       and ($5::timestamptz is null or at < $5)
       and ($6::text is null or source = $6)
       and ($7::uuid is null
            or (at, id) < (select a.at, a.id from audit_log a where a.id = $7))
     order by at desc, id desc
     limit $8`,
    [
      ...[projectId, operator, action, from, to, source, after].map((value) => value ?? null),
      limit + 1,
    ],
  );
  const entries = rows.slice(0, limit);
  return { entries, next: rows.length > limit ? (entries.at(-1)?.entryId ?? null) : null };
}
