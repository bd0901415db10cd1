import type { FileEntry, Snapshot } from '../../../core/files/file-entry.ts';
import type { Db } from '../client/pool.ts';
import { previousVersions, previousVersionValues } from '../files/previous-versions.ts';

/** Links and folders are not stored. The caller has locked the run. */
export async function replaceTranscript(db: Db, runId: string, snapshot: Snapshot): Promise<void> {
  const { files } = snapshot;
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
