import type { FileEntry, FileScope, Snapshot } from '../../../core/files/file-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import type { SnapshotRef } from '../log/lease.ts';
import type { SnapshotRecord } from '../runs/snapshot-record.ts';
import { currentFiles } from './current-files.ts';
import { type ChangeQuery, listChanges } from './list-changes.ts';
import { listRespawn } from './list-respawn.ts';
import { replaceSnapshot } from './replace-snapshot.ts';

interface FileQuery {
  scope?: FileScope;
  /** A prefix of the path. */
  prefix?: string;
  /** All by default. */
  limit?: number;
  /** The last path of the previous page. */
  after?: string;
}

export type FileStore = ReturnType<typeof createFileStore>;

/** The content of working directories as it was last stored. */
export function createFileStore(pool: Pool) {
  return {
    /**
     * Replaces all entries; their blobs must exist. Returns null and changes nothing if the run
     * has a later sandbox, if another host has the lease, or after retention has removed the files.
     */
    replaceSnapshot: (of: SnapshotRef, snapshot: Snapshot, record: SnapshotRecord | null = null) =>
      replaceSnapshot(pool, of, { snapshot, record }),
    /** Ordered by path, byte by byte. */
    list: (runId: string, query: FileQuery) => listFiles(pool, runId, query),
    /** Their differences from the original files, ordered like the list. */
    listChanges: (runId: string, query: ChangeQuery) => listChanges(pool, runId, query),
    find: (runId: string, path: string) => findFile(pool, runId, path),
    /** The content before the agent has changed anything. */
    listSeed: (runId: string) => listSeed(pool, runId),
    /** The first of these paths that conflicts with the run's files; null if none does. */
    findPathConflict: (runId: string, paths: string[]) => findPathConflict(pool, runId, paths),
    /** The files with which a session's next sandbox starts; null if nothing was stored yet. */
    listRespawn: (runId: string) => listRespawn(pool, runId),
  };
}

const columns = `
  path, size, encode(sha256, 'hex') as sha256, mode, scope, modified_at as "modifiedAt"`;

async function listFiles(db: Db, runId: string, query: FileQuery): Promise<FileEntry[]> {
  const { rows } = await db.query<FileEntry>(
    `select ${columns} from (${currentFiles}) f
     where ($2::text is null or scope = $2)
       and starts_with(path, $3)
       and path > $4
     order by path limit $5`,
    [runId, query.scope ?? null, query.prefix ?? '', query.after ?? '', query.limit ?? null],
  );
  return rows;
}

async function findFile(db: Db, runId: string, path: string): Promise<FileEntry | null> {
  const text = `select ${columns} from (${currentFiles}) f where path = $2`;
  const { rows } = await db.query<FileEntry>(text, [runId, path]);
  return rows[0] ?? null;
}

async function listSeed(db: Db, runId: string): Promise<FileEntry[]> {
  const text = `select ${columns} from seed_files($1) order by path`;
  const { rows } = await db.query<FileEntry>(text, [runId]);
  return rows;
}

/**
 * In a conflict, one path is a file or a link, and the other is a folder of this name or below one.
 */
async function findPathConflict(
  db: Db,
  runId: string,
  paths: string[],
): Promise<{ path: string; other: string } | null> {
  const { rows } = await db.query<{ path: string; other: string }>(
    `select g.path, f.path as other
     from unnest($2::text[]) g(path) join (${currentFiles}) f
       on starts_with(f.path, g.path || '/') or starts_with(g.path, f.path || '/')
     union all
     select g.path, l.path
     from unnest($2::text[]) g(path) join run_links l
       on l.run_id = $1
         and (starts_with(l.path, g.path || '/') or starts_with(g.path, l.path || '/'))
     union all
     select g.path, f.path
     from unnest($2::text[]) g(path) join run_folders f
       on f.run_id = $1 and (f.path = g.path or starts_with(f.path, g.path || '/'))
     limit 1`,
    [runId, paths],
  );
  return rows[0] ?? null;
}
