import type { FileChange } from '../../../core/files/file-change.ts';
import { flowVersionLimits } from '../../../core/flows/flow-version.ts';
import type { InputFile } from '../../../core/hosts/host-rpc.ts';
import { areFilesKept, keptVersions } from '../accounts/flows/kept-versions.ts';
import type { Db } from '../client/pool.ts';
import { executable, fileVersion } from './file-columns.ts';
import { isSame, lockFlow, readNewest, supersedeFiles } from './flow-versions.ts';

interface FilesDifference {
  /** The first ones, ordered by path. */
  changes: FileChange[];
  count: number;
}

/** The files of a version of the files. */
const filesOf = (revision: string): string => `(
  select * from flow_files
  where flow_id = $1 and valid_from <= ${revision} and (valid_to is null or valid_to > ${revision})
)`;

type DifferenceRow = FileChange & { count: number };

/** The files that differ between two versions of a flow; null if those of one are not kept. */
export async function compareVersionFiles(
  db: Db,
  flowId: string,
  [from, to]: [number, number],
): Promise<FilesDifference | null> {
  // If no file differs, one row has no path. One statement sees one state of the files.
  const { rows } = await db.query<DifferenceRow | { path: null }>(
    `select d.* from (
       select a.files_version as before, b.files_version as after
       from flows f
       join flow_versions a on a.flow_id = f.id and a.version = $2 and ${areFilesKept('a')}
       join flow_versions b on b.flow_id = f.id and b.version = $3 and ${areFilesKept('b')}
       where f.id = $1
     ) kept
     left join lateral (
       select coalesce(o.path, n.path) as path, ${fileVersion('o')} as before,
              ${fileVersion('n')} as after, count(*) over () as count
       from ${filesOf('kept.before')} o full join ${filesOf('kept.after')} n on n.path = o.path
       where (o.sha256, ${executable('o')}) is distinct from (n.sha256, ${executable('n')})
       order by 1 limit $4
     ) d on true
     order by d.path`,
    [flowId, from, to, flowVersionLimits.diffFilesMax],
  );
  if (rows.length === 0) return null;
  const found = rows.flatMap((row) => (row.path === null ? [] : [row]));
  const changes = found.map(({ path, before, after }) => ({ path, before, after }));
  return { changes, count: found[0]?.count ?? 0 };
}

type RestoredFiles =
  /** The numbers of files before and after. */
  | { outcome: 'restored'; before: number; after: number; isChanged: boolean }
  /** No such version is kept. */
  | { outcome: 'missing' }
  /** The version is kept, and its files are not. */
  | { outcome: 'files_not_kept' };

export type FlowFileChanges = ReturnType<typeof createFlowFileChanges>;

/** The changes of flow files within a transaction that changes fields of the flow too. */
export const createFlowFileChanges = (db: Db) => ({
  /** Locks the flow. Makes no version: the change of the fields makes one for both. */
  restore: (flowId: string, version: number) => restoreFiles(db, flowId, version),
});

async function restoreFiles(db: Db, flowId: string, version: number): Promise<RestoredFiles> {
  const now = await lockFlow(db, flowId);
  const wanted = await findRevision(db, flowId, version);
  if (wanted === null) return { outcome: 'missing' };
  if (!wanted.filesKept) return { outcome: 'files_not_kept' };
  const { rows: files } = await db.query<InputFile>(
    `select path, encode(sha256, 'hex') as sha256, size, mode from ${filesOf('$2')} f`,
    [flowId, wanted.revision],
  );
  const known = await readNewest(db, flowId);
  const paths = new Set(files.map(({ path }) => path));
  const changed = files.filter((file) => !isSame(file, known.get(file.path)));
  const removed = [...known.keys()].filter((path) => !paths.has(path));
  const isChanged = changed.length + removed.length > 0;
  if (isChanged) {
    const next = now.version + 1;
    await supersedeFiles(db, flowId, { changed, removed, version: next });
    await db.query(
      `update flows set files_version = $2, storage_bytes = $3, file_count = $4 where id = $1`,
      [flowId, next, wanted.bytes, wanted.count],
    );
  }
  return { outcome: 'restored', before: now.count, after: wanted.count, isChanged };
}

interface Revision {
  revision: number;
  bytes: number;
  count: number;
  filesKept: boolean;
}

async function findRevision(db: Db, flowId: string, version: number): Promise<Revision | null> {
  const { rows } = await db.query<Revision>(
    `select v.files_version as revision, v.storage_bytes as bytes, v.file_count as count,
            ${areFilesKept('v')} as "filesKept"
     from ${keptVersions} where v.flow_id = $1 and v.version = $2`,
    [flowId, version],
  );
  return rows[0] ?? null;
}
