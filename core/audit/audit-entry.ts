/** What an operator changed. */
export const auditActions = [
  'project_created',
  'settings_changed',
  'webhook_secret_prepared',
  'webhook_secret_rotated',
  'webhook_secret_replaced',
  'key_created',
  'key_revoked',
  'flow_created',
  'flow_changed',
  'token_created',
  'token_revoked',
  'endpoint_created',
  'endpoint_changed',
  'endpoint_removed',
  'test_event_requested',
  'event_redelivered',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** The names of the changed fields that have a value before and after a change, never values. */
interface ChangedFields {
  fieldsBefore: string[];
  fieldsAfter: string[];
}

/** One change by an operator. */
export interface AuditEntry extends ChangedFields {
  entryId: string;
  at: Date;
  operatorId: string;
  operator: string;
  /** Null: the operator had signed in. */
  tokenId: string | null;
  /** The IP address of the request. */
  address: string;
  requestId: string;
  action: AuditAction;
  /** Null: the change belongs to no project. */
  projectId: string | null;
  /** The project, flow, key, token, endpoint or event that was changed. */
  objectId: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Compares only the fields that `after` has. */
export function changedFields(before: Fields, after: Fields): ChangedFields {
  const changed = Object.keys(after)
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .sort();
  return {
    fieldsBefore: changed.filter((name) => hasValue(before[name])),
    fieldsAfter: changed.filter((name) => hasValue(after[name])),
  };
}

/** Empty lists and objects are how a flow stores that a field is not set. */
const unset = new Set(['null', '[]', '{}']);

const hasValue = (value: unknown): boolean =>
  value !== undefined && !unset.has(JSON.stringify(value));
