/** The kinds of changes. */
export const auditActions = [
  'project_created',
  'project_archived',
  'project_restored',
  'settings_changed',
  'webhook_secret_prepared',
  'webhook_secret_rotated',
  'webhook_secret_replaced',
  'key_created',
  'key_changed',
  'key_revoked',
  'flow_created',
  'flow_changed',
  'flow_files_changed',
  'flow_archived',
  'flow_restored',
  'schedule_paused',
  'schedule_resumed',
  'token_created',
  'token_revoked',
  'endpoint_created',
  'endpoint_changed',
  'endpoint_removed',
  'test_event_requested',
  'event_redelivered',
  'operator_invited',
  'operator_removed',
  'signed_in',
  'signed_out',
  'host_drained',
  'host_undrained',
  'run_started',
  'run_stopped',
  'run_interrupted',
  'run_deleted',
  'labels_changed',
  'interrupt_requested',
  'question_answered',
  'session_opened',
  'session_config_changed',
  'session_ended',
  'message_sent',
  'message_withdrawn',
  'run_files_added',
  'webhook_redelivered',
] as const;

/**
 * How the change was made: by an operator through the API, by the command line, or at startup from
 * settings.
 */
export const auditSources = ['api', 'command_line', 'settings'] as const;

export type AuditAction = (typeof auditActions)[number];

/** The names of the changed fields that have a value before and after a change, never values. */
interface ChangedFields {
  fieldsBefore: string[];
  fieldsAfter: string[];
}

/** The origin of a change. */
export interface AuditActor {
  source: (typeof auditSources)[number];
  /** Null: no operator made the change. `operator` is null too. */
  operatorId: string | null;
  operator: string | null;
  /** Null: no token was used. */
  tokenId: string | null;
  /** The IP address of a request, or the user and the host name of a process: `root@runs-1`. */
  address: string;
  /** Null: the change had no request. */
  requestId: string | null;
}

/** One change. */
export interface AuditEntry extends AuditActor, ChangedFields {
  entryId: string;
  at: Date;
  action: AuditAction;
  /** Null: the change belongs to no project. */
  projectId: string | null;
  /** The ID of the changed object, such as a project, a flow, a key or a token. */
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

/** A flow stores an unset field as an empty list or object. */
const unset = new Set(['null', '[]', '{}']);

const hasValue = (value: unknown): boolean =>
  value !== undefined && !unset.has(JSON.stringify(value));
