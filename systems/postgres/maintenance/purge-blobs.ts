import { limits } from '../../../core/limits.ts';
import type { Db } from '../client/pool.ts';
import { before } from './before-now.ts';
import { purgeTogether, type Unpurged } from './purge-together.ts';

interface BlobPurge {
  retentionMs: number;
  /** The last blob that was checked before. */
  after: string;
  unpurged: Unpurged;
}

interface BlobBatch {
  removed: number;
  /** The last blob that was checked. */
  last: string;
}

/**
 * Storing or reusing a blob refreshes `created_at`, so it is not deleted before it is referenced.
 */
export const isCollectable = `
  b.created_at < ${before('$1')}
  and not exists (select from run_files f where f.sha256 = b.sha256)
  and not exists (select from input_files f where f.sha256 = b.sha256)
  and not exists (select from message_files f where f.sha256 = b.sha256)
  and not exists (select from flow_files f where f.sha256 = b.sha256)
  and not exists (select from transcript_segments s where s.sha256 = b.sha256)`;

interface CheckedBlob {
  sha256: string;
  size: number;
  isUnreferenced: boolean;
}

export async function removeBlobs(
  db: Db,
  { retentionMs, after, unpurged }: BlobPurge,
): Promise<BlobBatch | null> {
  const { rows } = await db.query<CheckedBlob>(
    `select encode(b.sha256, 'hex') as sha256, b.size, ${isCollectable} as "isUnreferenced"
     from (select * from blobs where sha256 > $2 order by sha256 limit $3) b
     order by b.sha256`,
    [retentionMs, Buffer.from(after, 'hex'), limits.retention.batchRows],
  );
  const batch = firstBatch(rows);
  const last = batch.at(-1)?.sha256;
  if (last === undefined) return null;
  const unreferenced = batch.flatMap((blob) => (blob.isUnreferenced ? [blob.sha256] : []));
  const removed = await purgeTogether(unreferenced, unpurged, (due) =>
    removeUnreferenced(db, retentionMs, due),
  );
  return { removed, last };
}

/** The first blobs that are deleted together, at least one. */
function firstBatch(blobs: CheckedBlob[]): CheckedBlob[] {
  let bytes = 0;
  const end = blobs.findIndex(({ size, isUnreferenced }, index) => {
    if (isUnreferenced) bytes += size;
    return index > 0 && bytes > limits.retention.batchBytes;
  });
  return end === -1 ? blobs : blobs.slice(0, end);
}

/** Skips blobs that another transaction uses, so that the two cannot deadlock. */
async function removeUnreferenced(db: Db, retentionMs: number, sha256s: string[]): Promise<number> {
  const { rows } = await db.query<{ removed: number }>(
    `with locked as (
       select sha256 from blobs b where b.sha256 = any($2::bytea[]) and ${isCollectable}
       for update skip locked
     ),
     removed as (
       delete from blobs b using locked where b.sha256 = locked.sha256
       returning b.project_id, b.kind, b.size
     ),
     counted as (
       insert into stored_bytes_changes (project_id, kind, bytes)
       select project_id, kind, -sum(size) from removed
       where project_id is not null group by project_id, kind
     )
     select count(*) as removed from removed`,
    [retentionMs, sha256s.map((sha256) => Buffer.from(sha256, 'hex'))],
  );
  return rows[0]?.removed ?? 0;
}
