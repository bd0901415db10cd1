import type { FileEntry, FileScope } from '../../core/file-entry.ts';
import type { Db, Pool } from './pool.ts';
import { inTransaction } from './transaction.ts';

export interface FileQuery {
  scope?: FileScope;
  /** The beginning of a path, as text. */
  prefix?: string;
  limit: number;
  /** The last path of the page before. */
  after?: string;
}

export type FileStore = ReturnType<typeof createFileStore>;

/** What a run's working directory held when it was last stored. */
export function createFileStore(pool: Pool) {
  return {
    /** All at once; the content must have been stored before. */
    replaceSnapshot: (runId: string, entries: FileEntry[]) => replaceFiles(pool, runId, entries),
    /** In the order of their paths, byte by byte. */
    list: (runId: string, query: FileQuery) => listFiles(pool, runId, query),
    find: (runId: string, path: string) => findFile(pool, runId, path),
  };
}

/** Of two at once one is kept whole: the run's row is locked before either looks. */
function replaceFiles(pool: Pool, runId: string, entries: FileEntry[]): Promise<void> {
  return inTransaction(pool, async (db) => {
    await db.query('select from runs where id = $1 for no key update', [runId]);
    await db.query('delete from run_files where run_id = $1', [runId]);
    await insertFiles(db, runId, entries);
  });
}

async function insertFiles(db: Db, runId: string, entries: FileEntry[]): Promise<void> {
  await db.query(
    `insert into run_files (run_id, path, sha256, size, mode, scope, modified_at)
     select $1, f.path, decode(f.sha256, 'hex'), f.size, f.mode, f.scope, f.modified_at
     from unnest($2::text[], $3::text[], $4::bigint[], $5::integer[], $6::text[], $7::timestamptz[])
       f(path, sha256, size, mode, scope, modified_at)`,
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

const columns = `
  path, size, encode(sha256, 'hex') as sha256, mode, scope, modified_at as "modifiedAt"`;

async function listFiles(db: Db, runId: string, query: FileQuery): Promise<FileEntry[]> {
  const { rows } = await db.query<FileEntry>(
    `select ${columns} from run_files
     where run_id = $1
       and ($2::text is null or scope = $2)
       and starts_with(path, $3)
       and path > $4
     order by path limit $5`,
    [runId, query.scope ?? null, query.prefix ?? '', query.after ?? '', query.limit],
  );
  return rows;
}

async function findFile(db: Db, runId: string, path: string): Promise<FileEntry | null> {
  const text = `select ${columns} from run_files where run_id = $1 and path = $2`;
  const { rows } = await db.query<FileEntry>(text, [runId, path]);
  return rows[0] ?? null;
}
