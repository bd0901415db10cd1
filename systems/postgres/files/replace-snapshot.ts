import type {
  FileEntry,
  FolderEntry,
  LinkEntry,
  Snapshot,
} from '../../../core/files/file-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { lockCurrentGeneration } from '../log/fencing.ts';
import type { SnapshotRef } from '../log/lease.ts';
import { previousVersions, previousVersionValues } from './previous-versions.ts';

/**
 * Of two concurrent snapshots, one remains as a whole: both lock the run's row first, as does the claim
 * of a slot for the next sandbox.
 */
export function replaceSnapshot(pool: Pool, of: SnapshotRef, snapshot: Snapshot): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    if (!(await lockCurrentGeneration(db, of))) return false;
    await replaceTree(db, of.runId, snapshot);
    return true;
  });
}

/** The caller has locked the run. */
export async function replaceTree(db: Db, runId: string, snapshot: Snapshot): Promise<void> {
  await deleteTree(db, runId, snapshot);
  await insertTree(db, runId, snapshot);
}

/** A file that keeps its previous version leaves its group of hard links. */
async function deleteTree(db: Db, runId: string, snapshot: Snapshot): Promise<void> {
  await db.query(
    `with previous as (${previousVersions('run_files')}),
     ungrouped as (
       update run_files f set link_group = null from previous p
       where f.run_id = $1 and f.path = p.path
     ),
     links as (delete from run_links where run_id = $1),
     folders as (delete from run_folders where run_id = $1)
     delete from run_files f
     where f.run_id = $1 and not exists (select from previous p where p.path = f.path)`,
    [runId, ...previousVersionValues(snapshot)],
  );
}

/** A file of the flow that the run has not changed keeps its scope. */
async function insertTree(
  db: Db,
  runId: string,
  { files, links, folders }: Snapshot,
): Promise<void> {
  await db.query(
    `with links as (
       insert into run_links (run_id, path, target, modified_at)
       select $1, l.* from unnest($9::text[], $10::text[], $11::timestamptz[]) l
     ),
     folders as (
       insert into run_folders (run_id, path, mode, modified_at)
       select $1, f.* from unnest($12::text[], $13::integer[], $14::timestamptz[]) f
     )
     insert into run_files (run_id, path, sha256, size, mode, scope, modified_at, link_group)
     select $1, f.path, decode(f.sha256, 'hex'), f.size, f.mode,
            case when s.path is null then f.scope else 'flow' end, f.modified_at, f.link_group
     from unnest($2::text[], $3::text[], $4::bigint[], $5::integer[], $6::text[], $7::timestamptz[],
                 $8::integer[])
       f(path, sha256, size, mode, scope, modified_at, link_group)
     left join seed_files($1) s
       on s.scope = 'flow' and s.path = f.path and s.sha256 = decode(f.sha256, 'hex')`,
    [runId, ...fileColumns(files), ...linkColumns(links), ...folderColumns(folders)],
  );
}

const fileColumns = (files: FileEntry[]): unknown[][] => [
  files.map(({ path }) => path),
  files.map(({ sha256 }) => sha256),
  files.map(({ size }) => size),
  files.map(({ mode }) => mode),
  files.map(({ scope }) => scope),
  files.map(({ modifiedAt }) => modifiedAt.toISOString()),
  files.map(({ linkGroup = null }) => linkGroup),
];

const linkColumns = (links: LinkEntry[]): unknown[][] => [
  links.map(({ path }) => path),
  links.map(({ target }) => target),
  links.map(({ modifiedAt }) => modifiedAt.toISOString()),
];

const folderColumns = (folders: FolderEntry[]): unknown[][] => [
  folders.map(({ path }) => path),
  folders.map(({ mode }) => mode),
  folders.map(({ modifiedAt }) => modifiedAt.toISOString()),
];
