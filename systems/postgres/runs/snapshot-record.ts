import type { SkippedEntries } from '../../../core/files/file-entry.ts';
import { type StoredFiles, storedFilesOf } from '../../../core/files/stored-files.ts';
import type { Db } from '../client/pool.ts';
import type { SnapshotRef } from '../log/lease.ts';

/** The record of the last snapshot in a run's row. */
export interface SnapshotRecord extends SkippedEntries {
  at: string;
  files: number;
  bytes: number;
}

export async function recordSnapshot(
  db: Db,
  { runId, generation, token }: SnapshotRef,
  snapshot: SnapshotRecord,
): Promise<boolean> {
  const text = 'select record_snapshot($1, $2, $3, $4) as "hasChanged"';
  const values = [runId, generation, token ?? null, JSON.stringify(snapshot)];
  const { rows } = await db.query<{ hasChanged: boolean }>(text, values);
  return rows[0]?.hasChanged ?? false;
}

export async function findStoredFiles(db: Db, runId: string): Promise<StoredFiles | null> {
  const { rows } = await db.query<{ snapshot: string | null; hasUnstoredFiles: boolean }>(
    `select snapshot, has_unstored_files as "hasUnstoredFiles" from runs
     where id = $1 and files_purged_at is null`,
    [runId],
  );
  if (!rows[0]) return null;
  const { snapshot, hasUnstoredFiles } = rows[0];
  return storedFilesOf(parseSnapshotRecord(snapshot), hasUnstoredFiles);
}

/** The cast is safe, because only the storing of a snapshot writes the column. */
export const parseSnapshotRecord = (text: string | null): SnapshotRecord | null =>
  text === null ? null : (JSON.parse(text) as SnapshotRecord);
