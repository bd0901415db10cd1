// The files of a flow have versions. Every change creates a version under the lock of the flow's
// row, and with it a version of the flow. A run keeps the version at its admission, which takes a
// shared lock on that row. A change deletes the versions that no active run uses and no version of
// the flow keeps.

import type { InputFile } from '../../../core/hosts/host-rpc.ts';
import { recordVersion } from '../accounts/flows/record-version.ts';
import type { Db } from '../client/pool.ts';

export interface FlowUpdate {
  /** The files that the flow lacks or has with other content. */
  changed: InputFile[];
  /** The paths of files that the flow no longer has. */
  removed: string[];
  version: number;
  bytes: number;
  count: number;
  /** Null: not known. */
  changedBy: string | null;
}

interface FlowFilesState {
  projectId: string;
  version: number;
  bytes: number;
  count: number;
}

/** Locks the row of the flow, so that each concurrent change sees the one before. */
export async function lockFlow(db: Db, flowId: string): Promise<FlowFilesState> {
  const { rows } = await db.query<FlowFilesState>(
    `select project_id as "projectId", files_version as version, storage_bytes as bytes, file_count as count
     from flows where id = $1 for no key update`,
    [flowId],
  );
  if (!rows[0]) throw new Error(`no flow ${flowId}`);
  return rows[0];
}

/** The newest versions of the files with these paths; of all files by default. */
export async function readNewest(
  db: Db,
  flowId: string,
  paths: string[] | null = null,
): Promise<Map<string, InputFile>> {
  const { rows } = await db.query<InputFile>(
    `select path, encode(sha256, 'hex') as sha256, size, mode from flow_files
     where flow_id = $1 and valid_to is null and ($2::text[] is null or path = any($2))`,
    [flowId, paths],
  );
  return new Map(rows.map((row) => [row.path, row]));
}

export const isSame = (file: InputFile, known: InputFile | undefined): boolean =>
  known?.sha256 === file.sha256 && known.mode === file.mode;

export const bytesOf = (files: { size: number }[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

/** Call with the flow's row locked. */
export async function writeFlowUpdate(db: Db, flowId: string, change: FlowUpdate): Promise<void> {
  const { version, bytes, count, changedBy } = change;
  await supersedeFiles(db, flowId, change);
  // The schedule is the same, so it is not synced to Temporal again.
  await db.query(
    `update flows
     set files_version = $2, storage_bytes = $3, file_count = $4,
         version = version + 1, updated_at = db_clock(),
         schedule_synced_version = schedule_synced_version
           + (schedule_synced_version = version)::integer
     where id = $1`,
    [flowId, version, bytes, count],
  );
  await recordVersion(db, { flowId, changedBy });
}

type FileRows = Pick<FlowUpdate, 'changed' | 'removed' | 'version'>;

/** Call with the flow's row locked. */
export async function supersedeFiles(
  db: Db,
  flowId: string,
  { changed, removed, version }: FileRows,
): Promise<void> {
  await db.query(
    `update flow_files set valid_to = $3 where flow_id = $1 and valid_to is null and path = any($2)`,
    [flowId, [...removed, ...changed.map(({ path }) => path)], version],
  );
  await db.query(
    `insert into flow_files (flow_id, valid_from, path, sha256, size, mode, modified_at)
     select $1, $2, f.path, decode(f.sha256, 'hex'), f.size, f.mode, db_clock()
     from unnest($3::text[], $4::text[], $5::bigint[], $6::integer[]) f(path, sha256, size, mode)`,
    [flowId, version, ...columnsOf(changed)],
  );
}

export function columnsOf(files: InputFile[]): unknown[][] {
  return [
    files.map(({ path }) => path),
    files.map(({ sha256 }) => sha256),
    files.map(({ size }) => size),
    files.map(({ mode }) => mode),
  ];
}
