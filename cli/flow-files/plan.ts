// Plans the changes that make the flows of the service match a folder. A pure function: see
// plan-folder.ts for the actual state.

import type { Flow } from '../../client/generated/types.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { type FlowFields, fieldNames, isSame, withDefaults } from './flow-fields.ts';
import type { FlowFile } from './parse-flow-file.ts';
import type { Secrets } from './secrets.ts';

type Status = 'added' | 'modified' | 'deleted';

/** Values of secrets are never shown. */
export type FieldChange =
  | { field: string; before: unknown; after: unknown }
  | { field: string; secret: Status };

interface FileChange {
  path: string;
  status: Status;
}

/** A file of a flow. */
interface FlowContent {
  path: string;
  sha256: string;
  mode: '0644' | '0755';
}

export interface DesiredFlow {
  flow: FlowFile;
  files: readonly FlowContent[];
  secrets: Secrets;
}

export interface ActualFlow {
  record: Flow;
  files: readonly FlowContent[];
  /** The names of stored secrets whose values differ from those of the environment. */
  changedSecrets: { env: readonly string[]; mcpServers: readonly string[] };
}

export interface FlowPlan {
  action: 'create' | 'update' | 'restore' | 'archive';
  name: string;
  /** Null: the flow is created. */
  flowId: string | null;
  fields: FieldChange[];
  files: FileChange[];
  /** The body of the request. */
  body: JsonObject;
}

/** Null if nothing has to change. */
export function planFlow(desired: DesiredFlow, actual: ActualFlow | null): FlowPlan | null {
  const { flow, secrets } = desired;
  const wanted = withDefaults(flow.fields);
  const before = actual?.record ?? null;
  const changed = fieldNames.filter((field) => !isSame(wanted[field], valueBefore(before, field)));
  const servers = planSecrets({
    field: 'mcpServers',
    names: Object.keys(flow.mcpServers),
    values: secrets.mcpServers,
    before: before?.mcpServerNames ?? [],
    changed: actual?.changedSecrets.mcpServers ?? [],
  });
  const env = planSecrets({
    field: 'env',
    names: Object.keys(flow.env),
    values: secrets.env,
    before: before?.envNames ?? [],
    changed: actual?.changedSecrets.env ?? [],
  });
  const plan: FlowPlan = {
    action: actionFor(before),
    name: flow.name,
    flowId: before?.flowId ?? null,
    fields: [
      ...changed.flatMap((field) => fieldChanges(field, valueBefore(before, field), wanted[field])),
      ...env.fields,
      ...servers.fields,
    ],
    files: planFiles(desired.files, actual?.files ?? []),
    body: {
      ...Object.fromEntries(changed.map((field) => [field, wanted[field]])),
      ...(env.fields.length > 0 && { env: env.values }),
      ...(servers.fields.length > 0 && { mcpServers: servers.values }),
    },
  };
  const isUnchanged = plan.action === 'update' && plan.fields.length + plan.files.length === 0;
  return isUnchanged ? null : plan;
}

export function planArchive({ flowId, name }: Flow): FlowPlan {
  return { action: 'archive', name, flowId, fields: [], files: [], body: {} };
}

function actionFor(before: Flow | null): FlowPlan['action'] {
  if (before === null) return 'create';
  return before.archivedAt === null ? 'update' : 'restore';
}

/** The service gives a new flow the defaults too. */
const valueBefore = (before: Flow | null, field: keyof FlowFields): unknown =>
  before === null ? withDefaults({})[field] : before[field];

/** One change for each member of a group. */
function fieldChanges(field: string, before: unknown, after: unknown): FieldChange[] {
  if (!isObject(before) || !isObject(after)) return [{ field, before, after }];
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return members
    .filter((member) => !isSame(before[member], after[member]))
    .map((member) => {
      return { field: `${field}.${member}`, before: before[member], after: after[member] };
    });
}

interface SecretNames {
  field: string;
  names: readonly string[];
  values: Readonly<Record<string, unknown>>;
  before: readonly string[];
  changed: readonly string[];
}

/** Null removes a secret. A secret that the environment does not have keeps its stored value. */
function planSecrets({ field, names, values, before, changed }: SecretNames) {
  const sent = names.filter((name) => !before.includes(name) || changed.includes(name));
  const removed = before.filter((name) => !names.includes(name));
  const entries = [
    ...sent.filter((name) => name in values).map((name) => [name, values[name]]),
    ...removed.map((name) => [name, null]),
  ];
  const fields = [...sent, ...removed].sort().map((name): FieldChange => {
    const status = before.includes(name) ? 'modified' : 'added';
    return { field: `${field}.${name}`, secret: names.includes(name) ? status : 'deleted' };
  });
  return {
    fields,
    values: Object.fromEntries(entries) as JsonObject,
  };
}

function planFiles(desired: readonly FlowContent[], actual: readonly FlowContent[]): FileChange[] {
  const after = versionsOf(desired);
  const before = versionsOf(actual);
  const paths = [...new Set([...after.keys(), ...before.keys()])].sort();
  return paths.flatMap((path): FileChange[] => {
    if (after.get(path) === before.get(path)) return [];
    if (!before.has(path)) return [{ path, status: 'added' }];
    return [{ path, status: after.has(path) ? 'modified' : 'deleted' }];
  });
}

const versionsOf = (files: readonly FlowContent[]): Map<string, string> =>
  new Map(files.map(({ path, sha256, mode }) => [path, `${mode} ${sha256}`]));
