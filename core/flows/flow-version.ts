import { limits } from '../limits.ts';
import type { Flow } from './flow.ts';

/** The fields of a flow that its versions have. They have only the names of secrets. */
export type FlowDefinition = Pick<
  Flow,
  | 'name'
  | 'description'
  | 'prompt'
  | 'instructions'
  | 'model'
  | 'allowedModels'
  | 'disallowedTools'
  | 'mcpServerNames'
  | 'envNames'
  | 'image'
  | 'resources'
  | 'network'
  | 'timeoutSeconds'
  | 'limits'
  | 'monthlyBudgetUsd'
  | 'childRuns'
  | 'runner'
  | 'schedule'
>;

/** The files that a flow has in a version. */
interface FilesOfVersion {
  count: number;
  bytes: number;
  /** Rises with each change of the files. */
  revision: number;
}

export interface FlowVersion {
  version: number;
  changedAt: Date;
  /** The name of an operator or a key, or the user of the command line; null: not known. */
  changedBy: string | null;
  /** The changed fields, named as clients set them, and `files`; of the first version all. */
  changedFields: string[];
  /** Whether a restore can restore its files too. */
  filesKept: boolean;
}

export interface FullFlowVersion extends FlowVersion {
  definition: FlowDefinition;
  files: FilesOfVersion;
}

export const flowVersionLimits = {
  /** The latest versions that are kept of each flow. */
  kept: 50,
  /** The superseded files that the versions of a flow keep; the oldest are deleted first. */
  keptFileBytes: limits.flow.storageBytes,
  keptFiles: limits.flow.filesMax,
  /** The changed files that a comparison of two versions lists. */
  diffFilesMax: 1_000,
} as const;

interface FieldDifference {
  field: keyof FlowDefinition | 'files';
  before: unknown;
  after: unknown;
}

/** The fields that differ, in alphabetical order. */
export function differencesOf(before: FullFlowVersion, after: FullFlowVersion): FieldDifference[] {
  const old = { ...before.definition, files: before.files };
  const now = { ...after.definition, files: after.files };
  const fields = Object.keys(now).sort() as (keyof typeof now)[]; // the keys of its type
  return fields
    .filter((field) => !isEqual(old[field], now[field]))
    .map((field) => ({ field, before: old[field], after: now[field] }));
}

/** Both have the same keys in the same order. */
const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** The fields to store so that a flow has this definition again. Its secrets stay as they are. */
export function restoredFields(
  definition: FlowDefinition,
): Omit<FlowDefinition, 'mcpServerNames' | 'envNames'> {
  const { mcpServerNames: _servers, envNames: _names, ...fields } = definition;
  return fields;
}

type Secrets = Record<'env' | 'mcpServers', Readonly<Record<string, unknown>>>;

/** The names of the secrets that have other values than before, such as `env.TOKEN`. */
export function changedSecrets(before: Secrets, after: Secrets): string[] {
  return (['env', 'mcpServers'] as const).flatMap((kind) => {
    const names = new Set([...Object.keys(before[kind]), ...Object.keys(after[kind])]);
    return [...names]
      .filter((name) => !isEqual(before[kind][name], after[kind][name]))
      .sort()
      .map((name) => `${kind}.${name}`);
  });
}
