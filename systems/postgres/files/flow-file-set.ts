import type { FileEntry } from '../../../core/files/file-entry.ts';
import type { InputFile } from '../../../core/hosts/host-rpc.ts';
import { type ChangeAuthor, recordFor } from '../accounts/record-entry.ts';
import type { Db } from '../client/pool.ts';
import {
  bytesOf,
  type FlowUpdate,
  isSame,
  lockFlow,
  readNewest,
  writeFlowUpdate,
} from './flow-versions.ts';

export interface FlowFileQuery {
  /** A prefix of the path. */
  prefix?: string;
  /** All by default. */
  limit?: number;
  /** The last path of the previous page. */
  after?: string;
}

interface FlowFileSet {
  /** Identifies all files of the flow; the same on all pages. */
  tag: string;
  files: FileEntry[];
}

const columns = `
  path, size, encode(sha256, 'hex') as sha256, mode, 'flow' as scope, modified_at as "modifiedAt"`;

/** The newest versions, ordered by path. The tag and the files are read by one statement. */
export async function listFlowFiles(
  db: Db,
  flowId: string,
  { prefix = '', limit, after = '' }: FlowFileQuery,
): Promise<FlowFileSet> {
  // If no file matches, one row has the tag alone.
  const { rows } = await db.query<{ tag: string } & (FileEntry | { path: null })>(
    `select t.tag, f.* from flow_files_tag($1) t(tag) left join (
       select ${columns} from flow_files
       where flow_id = $1 and valid_to is null and starts_with(path, $2) and path > $3
       order by path limit $4
     ) f on true
     order by f.path`,
    [flowId, prefix, after, limit ?? null],
  );
  const files = rows.flatMap((row) => (row.path === null ? [] : [row]));
  return { tag: rows[0]?.tag ?? '', files };
}

/** The newest version of a file; null if the flow has no such file. */
export async function findFlowFile(
  db: Db,
  flowId: string,
  path: string,
): Promise<FileEntry | null> {
  const { rows } = await db.query<FileEntry>(
    `select ${columns} from flow_files where flow_id = $1 and path = $2 and valid_to is null`,
    [flowId, path],
  );
  return rows[0] ?? null;
}

/** Before a change, the set must have one of these tags; null: no condition. */
export type RequiredTags = string[] | null;

export interface SetCondition {
  tags: RequiredTags;
  /** The name of the operator or the key, for the version of the flow. */
  changedBy: string;
  /** Undefined by default: nothing is recorded. */
  author?: ChangeAuthor;
}

type FlowFilesChange =
  | { outcome: 'changed'; tag: string }
  /** The set has another tag. */
  | { outcome: 'mismatch' }
  /** The file does not exist. */
  | { outcome: 'missing' };

type FlowFilesReplacement =
  | ({ outcome: 'changed' } & FlowFileSet)
  | Exclude<FlowFilesChange, { outcome: 'changed' }>;

/** Replaces all files of the flow with these. Call in a transaction. */
export async function replaceFlowFiles(
  db: Db,
  flowId: string,
  { files, ...condition }: SetCondition & { files: InputFile[] },
): Promise<FlowFilesReplacement> {
  const change = await changeSet(db, { flowId, ...condition }, async () => {
    const known = await readNewest(db, flowId);
    const paths = new Set(files.map(({ path }) => path));
    return {
      changed: files.filter((file) => !isSame(file, known.get(file.path))),
      removed: [...known.keys()].filter((path) => !paths.has(path)),
      bytes: bytesOf(files),
      count: files.length,
    };
  });
  if (change.outcome !== 'changed') return change;
  return { outcome: 'changed', ...(await listFlowFiles(db, flowId, {})) };
}

/** Call in a transaction. */
export function deleteFlowFile(
  db: Db,
  flowId: string,
  { path, ...condition }: SetCondition & { path: string },
): Promise<FlowFilesChange> {
  return changeSet(db, { flowId, ...condition }, async ({ bytes, count }) => {
    const file = (await readNewest(db, flowId, [path])).get(path);
    if (file === undefined) return null;
    return { changed: [], removed: [path], bytes: bytes - file.size, count: count - 1 };
  });
}

type Totals = Pick<FlowUpdate, 'bytes' | 'count'>;

/** Compares the tag after locking the flow, so one of two concurrent changes gets `mismatch`. */
async function changeSet(
  db: Db,
  { flowId, tags, changedBy, author }: SetCondition & { flowId: string },
  decide: (now: Totals) => Promise<Omit<FlowUpdate, 'version' | 'changedBy'> | null>,
): Promise<FlowFilesChange> {
  const now = await lockFlow(db, flowId);
  if (!(await hasTag(db, flowId, tags))) return { outcome: 'mismatch' };
  const update = await decide(now);
  if (update === null) return { outcome: 'missing' };
  if (update.changed.length + update.removed.length > 0) {
    await writeFlowUpdate(db, flowId, { ...update, version: now.version + 1, changedBy });
    const files = (count: number) => (count > 0 ? ['files'] : []);
    await recordFor(db, author, {
      ...{ action: 'flow_files_changed', projectId: now.projectId, objectId: flowId },
      ...{ fieldsBefore: files(now.count), fieldsAfter: files(update.count) },
    });
  }
  return { outcome: 'changed', tag: await readTag(db, flowId) };
}

/** Whether the set has one of these tags. */
export async function hasTag(db: Db, flowId: string, tags: RequiredTags): Promise<boolean> {
  return tags === null || tags.includes(await readTag(db, flowId));
}

async function readTag(db: Db, flowId: string): Promise<string> {
  const { rows } = await db.query<{ tag: string }>('select flow_files_tag($1) as tag', [flowId]);
  return rows[0]?.tag ?? '';
}
