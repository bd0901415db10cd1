import {
  type FlowVersion,
  type FullFlowVersion,
  flowVersionLimits,
} from '../../../core/flows/flow-version.ts';
import type { Db } from '../client/pool.ts';

export type FlowVersionStore = ReturnType<typeof createFlowVersionStore>;

export function createFlowVersionStore(db: Db) {
  return {
    /** All that are kept, latest first. */
    list: (flowId: string) => listVersions(db, flowId),
    /** Null if there is no such version, or if it is no longer kept. */
    find: (flowId: string, version: number) => findVersion(db, flowId, version),
    /** The names of the secrets that were changed between two versions. */
    changedSecrets: (flowId: string, versions: [number, number]) =>
      changedSecretsBetween(db, flowId, versions),
  };
}

/** Call it in the transaction of the change, after the change. */
export async function recordVersion(
  db: Db,
  { flowId, changedBy, secrets = [] }: VersionChange,
): Promise<void> {
  const text = 'select record_flow_version($1, $2, $3, $4)';
  await db.query(text, [flowId, changedBy, secrets, flowVersionLimits.kept]);
}

interface VersionChange {
  flowId: string;
  /** Null: not known. */
  changedBy: string | null;
  /** The names of the secrets with other values. */
  secrets?: string[];
}

const columns = `v.version, v.changed_at as "changedAt", v.changed_by as "changedBy",
  v.changed_fields as "changedFields"`;

// A version that is kept only for its definition is not shown.
const keptVersions = `flow_versions v join flows f
  on f.id = v.flow_id and v.version > f.version - ${flowVersionLimits.kept}`;

async function listVersions(db: Db, flowId: string): Promise<FlowVersion[]> {
  const text = `
    select ${columns} from ${keptVersions} where v.flow_id = $1 order by v.version desc`;
  return (await db.query<FlowVersion>(text, [flowId])).rows;
}

async function findVersion(
  db: Db,
  flowId: string,
  version: number,
): Promise<FullFlowVersion | null> {
  // flow_definition wrote the definition.
  const { rows } = await db.query<FullFlowVersion>(
    `select ${columns}, d.definition,
            json_build_object(
              'count', v.file_count, 'bytes', v.storage_bytes, 'revision', v.files_version
            ) as files
     from ${keptVersions}
     join flow_versions d on d.flow_id = v.flow_id and d.version = v.definition_version
     where v.flow_id = $1 and v.version = $2`,
    [flowId, version],
  );
  return rows[0] ?? null;
}

async function changedSecretsBetween(
  db: Db,
  flowId: string,
  [from, to]: [number, number],
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select distinct unnest(changed_secrets) as name from flow_versions
     where flow_id = $1 and version > least($2::integer, $3::integer)
       and version <= greatest($2::integer, $3::integer)
     order by name`,
    [flowId, from, to],
  );
  return rows.map(({ name }) => name);
}
