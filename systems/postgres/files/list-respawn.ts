import type {
  FileEntry,
  FolderEntry,
  LinkEntry,
  WorkspaceTree,
} from '../../../core/files/file-entry.ts';
import type { Db } from '../client/pool.ts';

/**
 * The stored entries, and the input files that sandboxes received since; null if nothing was
 * stored. Pending files are not included: they are written before the next turn.
 */
export async function listRespawn(db: Db, runId: string): Promise<WorkspaceTree | null> {
  const text = 'select from sessions where run_id = $1 and snapshot_at is not null';
  if ((await db.query(text, [runId])).rowCount === 0) return null;
  const [files, links, folders] = await Promise.all([
    listFiles(db, runId),
    listLinks(db, runId),
    listFolders(db, runId),
  ]);
  return { files, links, folders };
}

/**
 * Input files that are not in the snapshot of run `$1`. If the agent has replaced a file by a
 * folder or the reverse, its version is kept. If a later input file needs the folder, the later one
 * is.
 */
const inputFilesSince = `
  select g.* from input_files g join sessions s on s.run_id = g.run_id
  where g.run_id = $1 and not g.is_pending
    and g.modified_at > s.snapshot_at
    and not exists (
      select from run_files f where f.run_id = $1
        and (starts_with(f.path, g.path || '/') or starts_with(g.path, f.path || '/'))
    )
    and not exists (
      select from run_links l where l.run_id = $1
        and (starts_with(l.path, g.path || '/') or starts_with(g.path, l.path || '/'))
    )
    and not exists (
      select from run_folders f where f.run_id = $1
        and (f.path = g.path or starts_with(f.path, g.path || '/'))
    )
    and not exists (
      select from input_files l where l.run_id = $1 and not l.is_pending
        and l.modified_at > g.modified_at
        and (starts_with(l.path, g.path || '/') or starts_with(g.path, l.path || '/'))
    )`;

async function listFiles(db: Db, runId: string): Promise<FileEntry[]> {
  const columns = `
    path, size, encode(sha256, 'hex') as sha256, mode, scope, modified_at as "modifiedAt"`;
  const { rows } = await db.query<FileEntry>(
    `with since as (${inputFilesSince})
     select ${columns}, null as "linkGroup" from since
     union all
     select ${columns}, link_group from run_files f
     where f.run_id = $1 and not exists (select from since where since.path = f.path)
     order by path`,
    [runId],
  );
  return rows;
}

async function listLinks(db: Db, runId: string): Promise<LinkEntry[]> {
  const { rows } = await db.query<LinkEntry>(
    `with since as (${inputFilesSince})
     select path, target, modified_at as "modifiedAt" from run_links l
     where l.run_id = $1 and not exists (select from since where since.path = l.path)
     order by path`,
    [runId],
  );
  return rows;
}

async function listFolders(db: Db, runId: string): Promise<FolderEntry[]> {
  const { rows } = await db.query<FolderEntry>(
    `select path, mode, modified_at as "modifiedAt" from run_folders
     where run_id = $1 order by path`,
    [runId],
  );
  return rows;
}
