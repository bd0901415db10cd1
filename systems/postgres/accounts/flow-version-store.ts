import type { FlowVersion, FullFlowVersion } from '../../../core/flows/flow-version.ts';
import type { Db } from '../client/pool.ts';
import { compareVersionFiles } from '../files/version-files.ts';
import { areFilesKept, keptVersions } from './flows/kept-versions.ts';

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
    /** The files that differ between two versions; null if those of one are not kept. */
    compareFiles: (flowId: string, versions: [number, number]) =>
      compareVersionFiles(db, flowId, versions),
  };
}

const columns = `v.version, v.changed_at as "changedAt", v.changed_by as "changedBy",
  v.changed_fields as "changedFields", ${areFilesKept('v')} as "filesKept"`;

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
