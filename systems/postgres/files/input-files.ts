import { type FileScope, ignoreName } from '../../../core/files/file-entry.ts';
import type { InputFile } from '../../../core/hosts/host-rpc.ts';
import { limits } from '../../../core/limits.ts';
import type { ChangeAuthor } from '../accounts/record-entry.ts';
import type { Db } from '../client/pool.ts';
import { recordRunChange } from '../runs/record-run-change.ts';
import {
  bytesOf,
  columnsOf,
  type FlowUpdate,
  isSame,
  lockFlow,
  readNewest,
  writeFlowUpdate,
} from './flow-versions.ts';

export interface ScopedFile extends InputFile {
  scope: FileScope;
}

export interface InputFiles {
  files: ScopedFile[];
  /**
   * The `.flowignore` of the flow that decided the scopes, if any; null if the request has its own.
   */
  classifiedBy: { sha256: string | null } | null;
  /** The name of the key; by default it is not known. */
  changedBy?: string;
}

export type FileConflict =
  /** The flow's `.flowignore` has changed: classify the files again. */
  | { outcome: 'stale' }
  | { outcome: 'full'; what: 'bytes' | 'files'; limit: number; current: number }
  /** One path is a file and the other needs a folder of that name. */
  | { outcome: 'path_conflict'; path: string; other: string };

type InputFilesResult = { outcome: 'added' } | FileConflict;

interface InputFileTarget {
  runId: string;
  flowId: string;
  /** They wait for the next turn: no sandbox has them yet. */
  arePending?: boolean;
}

/** Files that a caller adds to a run. */
export interface AddedFilesTarget extends InputFileTarget {
  /** The operator who adds them; by default they have no entry in the audit log. */
  author?: ChangeAuthor;
}

/** Thrown to roll back the transaction in which the conflict was found. */
export class FileConflictError extends Error {
  override name = 'FileConflictError';
  readonly conflict: FileConflict;
  constructor(conflict: FileConflict) {
    super(`the files were not stored: ${conflict.outcome}`);
    this.conflict = conflict;
  }
}

/** Outside of that transaction a conflict is a result. */
export async function orConflict<T>(stored: Promise<T>): Promise<T | FileConflict> {
  try {
    return await stored;
  } catch (error) {
    if (error instanceof FileConflictError) return error.conflict;
    throw error;
  }
}

/** Call in a transaction. Changes nothing if there is a conflict. */
export async function addInputFiles(
  db: Db,
  { runId, flowId, arePending = false }: InputFileTarget,
  input: InputFiles,
): Promise<InputFilesResult> {
  const updated = await updateFlowFiles(db, flowId, input);
  if (updated.outcome === 'added') await insertInputFiles(db, { runId, arePending }, input.files);
  return updated;
}

/** The same with an entry in the audit log. */
export async function addRecordedFiles(
  db: Db,
  { author, ...target }: AddedFilesTarget,
  input: InputFiles,
): Promise<InputFilesResult> {
  const added = await addInputFiles(db, target, input);
  const { runId } = target;
  const fields = { fieldsAfter: ['files'] };
  if (added.outcome === 'added')
    await recordRunChange(db, author, { runId, action: 'run_files_added', ...fields });
  return added;
}

/**
 * Adds the files with the scope `flow` to the flow. Call in a transaction. Changes nothing if there
 * is a conflict.
 */
export async function updateFlowFiles(
  db: Db,
  flowId: string,
  input: InputFiles,
): Promise<InputFilesResult> {
  const plan = await planFlowUpdate(db, flowId, input);
  if (plan.outcome !== 'fits') return plan;
  if (plan.changed.length > 0) await writeFlowUpdate(db, flowId, plan);
  return { outcome: 'added' };
}

/** Locks the flow's row first, so that each of several concurrent changes sees the one before. */
export async function planFlowUpdate(
  db: Db,
  flowId: string,
  { files, classifiedBy, changedBy }: InputFiles,
): Promise<({ outcome: 'fits' } & FlowUpdate) | FileConflict> {
  const now = await lockFlow(db, flowId);
  const known = await readNewest(db, flowId, [ignoreName, ...files.map(({ path }) => path)]);
  if (classifiedBy !== null && classifiedBy.sha256 !== (known.get(ignoreName)?.sha256 ?? null)) {
    return { outcome: 'stale' };
  }
  const blocked = await findPathConflict(db, flowId, files);
  if (blocked !== null) return blocked;

  const shared = files.filter(({ scope }) => scope === 'flow');
  const changed = shared.filter((file) => !isSame(file, known.get(file.path)));
  const freed = changed.map(({ path }) => ({ size: known.get(path)?.size ?? 0 }));
  const bytes = now.bytes + bytesOf(changed) - bytesOf(freed);
  const count = now.count + changed.filter(({ path }) => !known.has(path)).length;
  if (bytes > Math.max(limits.flow.storageBytes, now.bytes)) {
    return { outcome: 'full', what: 'bytes', limit: limits.flow.storageBytes, current: now.bytes };
  }
  if (count > Math.max(limits.flow.filesMax, now.count)) {
    return { outcome: 'full', what: 'files', limit: limits.flow.filesMax, current: now.count };
  }
  const removed: string[] = [];
  const version = now.version + 1;
  const totals = { bytes, count, changedBy: changedBy ?? null };
  return { outcome: 'fits', changed, removed, version, ...totals };
}

/**
 * A file that cannot be written beside the flow's files would prevent all later runs from starting.
 */
async function findPathConflict(
  db: Db,
  flowId: string,
  files: ScopedFile[],
): Promise<FileConflict | null> {
  const { rows } = await db.query<{ path: string; other: string }>(
    `select g.path, f.path as other
     from unnest($2::text[]) g(path) join flow_files f
       on f.flow_id = $1 and f.valid_to is null
      -- all that begins with the path and a slash: a zero comes next after it
      and f.path > (g.path || '/') collate "C" and f.path < (g.path || '0') collate "C"
     union all
     select g.path, f.path
     from unnest($3::text[], $4::text[]) g(path, above) join flow_files f
       on f.flow_id = $1 and f.valid_to is null and f.path = g.above
     limit 1`,
    [flowId, files.map(({ path }) => path), ...pathsAndFolders(files)],
  );
  return rows[0] ? { outcome: 'path_conflict', ...rows[0] } : null;
}

/** Each path with each folder above it. */
function pathsAndFolders(files: ScopedFile[]): [paths: string[], folders: string[]] {
  const pairs = files.flatMap(({ path }) => {
    const parts = path.split('/');
    return parts.slice(1).map((_, index) => [path, parts.slice(0, index + 1).join('/')] as const);
  });
  return [pairs.map(([path]) => path), pairs.map(([, folder]) => folder)];
}

/** Updates in the order of the paths, like every statement that locks several of a run's files. */
async function insertInputFiles(
  db: Db,
  { runId, arePending }: { runId: string; arePending: boolean },
  files: ScopedFile[],
): Promise<void> {
  await db.query(
    `insert into input_files (run_id, path, sha256, size, mode, scope, modified_at, is_pending)
     select $1, f.path, decode(f.sha256, 'hex'), f.size, f.mode, f.scope, db_clock(), $7
     from unnest($2::text[], $3::text[], $4::bigint[], $5::integer[], $6::text[])
       f(path, sha256, size, mode, scope)
     order by f.path collate "C"
     on conflict (run_id, path) do update
       set sha256 = excluded.sha256, size = excluded.size, mode = excluded.mode,
           scope = excluded.scope, modified_at = excluded.modified_at, is_pending = excluded.is_pending`,
    [runId, ...scopedColumnsOf(files), arePending],
  );
}

export function scopedColumnsOf(files: ScopedFile[]): unknown[][] {
  return [...columnsOf(files), files.map(({ scope }) => scope)];
}
