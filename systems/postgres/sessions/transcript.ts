import type { FileEntry } from '../../../core/files/file-entry.ts';
import type { Db } from '../client/pool.ts';

export async function listTranscript(db: Db, runId: string): Promise<FileEntry[]> {
  const { rows } = await db.query<FileEntry>(
    `select path, size, encode(sha256, 'hex') as sha256, mode, 'run' as scope,
            modified_at as "modifiedAt"
     from session_transcripts where run_id = $1 order by path`,
    [runId],
  );
  return rows;
}
