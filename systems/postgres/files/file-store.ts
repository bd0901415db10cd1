import type { FileEntry, FileScope } from '../../../core/files/file-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { lockCurrentGeneration } from '../log/fencing.ts';
import type { SnapshotRef } from '../log/lease.ts';

interface FileQuery {
  scope?: FileScope;
  /** A prefix of the path. */
  prefix?: string;
  limit: number;
  /** The last path of the previous page. */
  after?: string;
}

export type FileStore = ReturnType<typeof createFileStore>;

/** The content of working directories as it was last stored. */
export function createFileStore(pool: Pool) {
  return {
    /**
     * Replaces all entries; their blobs must exist. Returns false and changes nothing if the run
     * has a later sandbox, or if another host has the lease.
     */
    replaceSnapshot: (of: SnapshotRef, entries: FileEntry[]) => replaceFiles(pool, of, entries),
    /** Ordered by path, byte by byte. */
    list: (runId: string, query: FileQuery) => listFiles(pool, runId, query),
    find: (runId: string, path: string) => findFile(pool, runId, path),
    /** The content before the agent has changed anything. */
    listSeed: (runId: string) => listSeed(pool, runId),
    /** The first of these paths that conflicts with the run's files; null if none does. */
    findPathConflict: (runId: string, paths: string[]) => findPathConflict(pool, runId, paths),
    /** The files that a session's next sandbox starts with; null if nothing was stored yet. */
    listRespawn: (runId: string) => listRespawn(pool, runId),
  };
}

/**
 * A file of the flow that the run has not changed keeps its scope. Of two concurrent calls one is
 * kept whole: both lock the run's row first, as does the claim of a slot for the next sandbox.
 */
function replaceFiles(pool: Pool, of: SnapshotRef, entries: FileEntry[]): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    if (!(await lockCurrentGeneration(db, of))) return false;
    await db.query('delete from run_files where run_id = $1', [of.runId]);
    await insertFiles(db, of.runId, entries);
    return true;
  });
}

async function insertFiles(db: Db, runId: string, entries: FileEntry[]): Promise<void> {
  await db.query(
    `insert into run_files (run_id, path, sha256, size, mode, scope, modified_at)
     select $1, f.path, decode(f.sha256, 'hex'), f.size, f.mode,
            case when s.path is null then f.scope else 'flow' end, f.modified_at
     from unnest($2::text[], $3::text[], $4::bigint[], $5::integer[], $6::text[], $7::timestamptz[])
       f(path, sha256, size, mode, scope, modified_at)
     left join seed_files($1) s
       on s.scope = 'flow' and s.path = f.path and s.sha256 = decode(f.sha256, 'hex')`,
    [
      runId,
      entries.map((entry) => entry.path),
      entries.map((entry) => entry.sha256),
      entries.map((entry) => entry.size),
      entries.map((entry) => entry.mode),
      entries.map((entry) => entry.scope),
      entries.map((entry) => entry.modifiedAt.toISOString()),
    ],
  );
}

/**
 * The files of run `$1` as they were last stored, or its initial files if nothing was stored yet.
 * Includes the files that wait for the next turn.
 */
const currentFiles = `
  select path, sha256, size, mode, scope, modified_at from run_files f
  where run_id = $1
    and not exists (select from input_files g where g.run_id = $1 and g.path = f.path and g.is_pending)
  union all
  select path, sha256, size, mode, scope, modified_at from input_files
  where run_id = $1 and is_pending and exists (select from run_files where run_id = $1)
  union all
  select path, sha256, size, mode, scope, modified_at from seed_files($1)
  where not exists (select from runs where id = $1 and snapshot is not null)
    and not exists (select from run_files where run_id = $1)`;

const columns = `
  path, size, encode(sha256, 'hex') as sha256, mode, scope, modified_at as "modifiedAt"`;

async function listFiles(db: Db, runId: string, query: FileQuery): Promise<FileEntry[]> {
  const { rows } = await db.query<FileEntry>(
    `select ${columns} from (${currentFiles}) f
     where ($2::text is null or scope = $2)
       and starts_with(path, $3)
       and path > $4
     order by path limit $5`,
    [runId, query.scope ?? null, query.prefix ?? '', query.after ?? '', query.limit],
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

/** One path is a file and the other needs a folder of that name. */
async function findPathConflict(
  db: Db,
  runId: string,
  paths: string[],
): Promise<{ path: string; other: string } | null> {
  const { rows } = await db.query<{ path: string; other: string }>(
    `select g.path, f.path as other
     from unnest($2::text[]) g(path) join (${currentFiles}) f
       on starts_with(f.path, g.path || '/') or starts_with(g.path, f.path || '/')
     limit 1`,
    [runId, paths],
  );
  return rows[0] ?? null;
}

/**
 * The stored files, and the input files that sandboxes received since. Pending files are not
 * included: they are written before the next turn. If the agent has replaced a file by a folder or
 * the reverse, its version is kept.
 */
async function listRespawn(db: Db, runId: string): Promise<FileEntry[] | null> {
  // The process that stored the files may have died before it recorded the snapshot.
  const stored = `
    select snapshot is not null or exists (select from run_files where run_id = $1) as stored
    from runs where id = $1`;
  if (!(await db.query<{ stored: boolean }>(stored, [runId])).rows[0]?.stored) return null;
  const { rows } = await db.query<FileEntry>(
    `with since as (
       select g.* from input_files g join sessions s on s.run_id = g.run_id
       where g.run_id = $1 and not g.is_pending
         and g.modified_at > coalesce(s.snapshot_at, '-infinity')
         and not exists (
           select from run_files f where f.run_id = $1
             and (starts_with(f.path, g.path || '/') or starts_with(g.path, f.path || '/'))
         )
     )
     select ${columns} from since
     union all
     select ${columns} from run_files f
     where f.run_id = $1 and not exists (select from since where since.path = f.path)
     order by path`,
    [runId],
  );
  return rows;
}
