import type { Snapshot } from '../../../core/files/file-entry.ts';
import type { Db } from '../client/pool.ts';
import type { SnapshotRef } from '../log/lease.ts';
import { snapshotJson } from './snapshot-json.ts';

export async function replaceSnapshot(
  db: Db,
  { runId, generation, token }: SnapshotRef,
  snapshot: Snapshot,
): Promise<boolean> {
  const text = 'select from replace_snapshot($1, $2, $3, $4) replaced where replaced';
  const values = [runId, generation, token ?? null, snapshotJson(snapshot)];
  return (await db.query(text, values)).rowCount === 1;
}
