import type { FileChange } from '../../../core/files/file-change.ts';
import type { Db } from '../client/pool.ts';
import { currentFiles } from './current-files.ts';
import { executable, fileVersion } from './file-columns.ts';

export interface ChangeQuery {
  /** A prefix of the path. */
  prefix?: string;
  /** All by default. */
  limit?: number;
  /** The last path of the previous page. */
  after?: string;
}

/**
 * The differences between the current files of a run and its original files, ordered by path. Empty
 * after retention has removed the files.
 */
export async function listChanges(
  db: Db,
  runId: string,
  { prefix = '', limit, after = '' }: ChangeQuery,
): Promise<FileChange[]> {
  const { rows } = await db.query<FileChange>(
    `select coalesce(g.path, f.path) as path, ${fileVersion('g')} as before, ${fileVersion('f')} as after
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
