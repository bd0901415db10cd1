import type { Snapshot } from '../../../core/files/file-entry.ts';
import type { Db } from '../client/pool.ts';
import type { SnapshotRef } from '../log/lease.ts';
import type { SnapshotRecord } from '../runs/snapshot-record.ts';
import { snapshotJson } from './snapshot-json.ts';

/**
 * `listed`: the snapshot is not recorded, because it omits other entries than the last one. Then
 * call `recordSnapshot`, which announces them. Null: nothing is stored.
 */
export type StoredSnapshot = 'recorded' | 'listed' | null;

export async function replaceSnapshot(
  db: Db,
  { runId, generation, token }: SnapshotRef,
  { snapshot, record }: { snapshot: Snapshot; record: SnapshotRecord | null },
): Promise<StoredSnapshot> {
  const name = 'replace_snapshot';
  const text = `
    select outcome from ${name}($1, $2, $3, $4, $5) outcome where outcome is not null`;
  const contents = [snapshotJson(snapshot), record && JSON.stringify(record)];
  const values = [runId, generation, token ?? null, ...contents];
  const { rows } = await db.query<{ outcome: 'recorded' | 'listed' }>({ name, text, values });
  return rows[0]?.outcome ?? null;
}
