import type { Flow } from '../../client/generated/types.ts';
import { defaultFlow } from '../../core/flows/flow.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { childRunLimits } from '../../core/runs/child-runs.ts';

/** The fields that a file does not have: set by the service, secret, or the pause. */
type OtherFields =
  | 'flowId'
  | 'projectId'
  | 'envNames'
  | 'mcpServerNames'
  | 'schedulePausedAt'
  | 'storage'
  | 'version'
  | 'archivedAt'
  | 'createdAt'
  | 'updatedAt';

export type FlowFields = Omit<Flow, OtherFields>;

/**
 * The fields of a file in the order in which they are written, except the name, which is first. A
 * field that a file does not have gets its default, even if the service has another value.
 */
const defaults: Record<Exclude<keyof FlowFields, 'name'>, unknown> = {
  description: null,
  model: null,
  allowedModels: [],
  disallowedTools: [],
  timeoutSeconds: null,
  limits: defaultFlow.limits,
  monthlyBudgetUsd: null,
  childRuns: null,
  network: defaultFlow.network,
  resources: defaultFlow.resources,
  image: null,
  runner: null,
  schedule: null,
  prompt: null,
  instructions: null,
};

export const fieldNames = ['name', ...Object.keys(defaults)] as (keyof FlowFields)[]; // its own

/** The time zone of a schedule that names none. */
const timezone = 'UTC';

/** All fields of a flow from those of a file. Members of a group have defaults too. */
export function withDefaults(fields: JsonObject): JsonObject {
  const childRuns = {
    maxRuns: childRunLimits.runs.default,
    maxConcurrent: childRunLimits.concurrent.default,
    maxBudgetUsd: null,
  };
  const groups: JsonObject = { ...defaults, schedule: { timezone }, childRuns };
  const given = Object.entries(fields).map(([name, value]): [string, unknown] => {
    const group = groups[name];
    return [name, isObject(value) && isObject(group) ? { ...group, ...value } : value];
  });
  return { ...defaults, ...Object.fromEntries(given) };
}

/** The fields that differ from their defaults, in the order in which files have them. */
export function withoutDefaults(flow: FlowFields): JsonObject {
  const standard: JsonObject = defaults;
  const changed = fieldNames.filter((name) => !isSame(flow[name], standard[name]));
  return Object.fromEntries(changed.map((name) => [name, ownMembers(flow[name], standard[name])]));
}

function ownMembers(value: unknown, defaultValue: unknown): unknown {
  if (!isObject(value)) return value;
  const group = isObject(defaultValue) ? defaultValue : {};
  const own = Object.keys(value).filter((name) => !isSame(value[name], group[name]));
  return Object.fromEntries(own.sort().map((name) => [name, value[name]]));
}

export const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

/** The order of members does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
