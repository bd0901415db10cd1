import type { FileEntry, Snapshot } from '../../../core/files/file-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { previousVersions, previousVersionValues } from '../files/previous-versions.ts';
import { lockCurrentGeneration } from '../log/fencing.ts';
import type { SnapshotRef } from '../log/lease.ts';

/**
 * Replaces all files; their blobs must exist. Links and folders are not stored. Returns false and
 * changes nothing if the run has a later sandbox, or if another host has the lease.
 */
export function replaceTranscript(
  pool: Pool,
  of: SnapshotRef,
  snapshot: Snapshot,
): Promise<boolean> {
  const { runId } = of;
  const { files } = snapshot;
  return inTransaction(pool, async (db) => {
    if (!(await lockCurrentGeneration(db, of))) return false;
    await db.query(
      `with previous as (${previousVersions('session_transcripts')})
       delete from session_transcripts t
       where t.run_id = $1 and not exists (select from previous p where p.path = t.path)`,
      [runId, ...previousVersionValues(snapshot)],
    );
    await db.query(
      `insert into session_transcripts (run_id, path, sha256, size, mode, modified_at)
       select $1, f.path, decode(f.sha256, 'hex'), f.size, f.mode, f.modified_at
       from unnest($2::text[], $3::text[], $4::bigint[], $5::integer[], $6::timestamptz[])
         f(path, sha256, size, mode, modified_at)`,
      [
        runId,
        files.map((file) => file.path),
        files.map((file) => file.sha256),
        files.map((file) => file.size),
        files.map((file) => file.mode),
        files.map((file) => file.modifiedAt.toISOString()),
      ],
    );
    return true;
  });
}

export async function listTranscript(db: Db, runId: string): Promise<FileEntry[]> {
  const { rows } = await db.query<FileEntry>(
    `select path, size, encode(sha256, 'hex') as sha256, mode, 'run' as scope,
            modified_at as "modifiedAt"
     from session_transcripts where run_id = $1 order by path`,
    [runId],
  );
  return rows;
}
