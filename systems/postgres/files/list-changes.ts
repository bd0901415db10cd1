import type { FileChange, FileVersion } from '../../../core/files/file-change.ts';
import type { Db } from '../client/pool.ts';
import { currentFiles } from './current-files.ts';

export interface ChangeQuery {
  /** A prefix of the path. */
  prefix?: string;
  /** All by default. */
  limit?: number;
  /** The last path of the previous page. */
  after?: string;
}

interface Row {
  path: string;
  before: FileVersion | null;
  after: FileVersion | null;
}

const version = (table: string) => `
  case when ${table}.path is not null then json_build_object(
    'size', ${table}.size, 'sha256', encode(${table}.sha256, 'hex'), 'mode', ${table}.mode
  ) end`;

/** What `isExecutable` compares. */
const executable = (table: string) => `(${table}.mode & 64) <> 0`;

/**
 * The differences between the current files of a run and its original files, ordered by path. Empty
 * after retention has removed the files.
 */
export async function listChanges(
  db: Db,
  runId: string,
  { prefix = '', limit, after = '' }: ChangeQuery,
): Promise<FileChange[]> {
  const { rows } = await db.query<Row>(
    `select coalesce(g.path, f.path) as path, ${version('g')} as before, ${version('f')} as after
     from (
       select * from seed_files($1)
       where exists (select from runs where id = $1 and files_purged_at is null)
     ) g
     full join (${currentFiles}) f on f.path = g.path
     where (g.sha256, ${executable('g')}) is distinct from (f.sha256, ${executable('f')})
       -- unchanged, and the flow has a newer version
       and not (g.path is null and f.scope = 'flow')
       and starts_with(coalesce(g.path, f.path), $2)
       and coalesce(g.path, f.path) > $3
     order by 1 limit $4`,
    [runId, prefix, after, limit ?? null],
  );
  return rows;
}
