import type { Snapshot } from '../../../core/files/file-entry.ts';
import type { Transcript } from '../../../core/sessions/transcript.ts';
import type { Db } from '../client/pool.ts';
import type { StoredSnapshot } from '../files/replace-snapshot.ts';
import { snapshotJson } from '../files/snapshot-json.ts';
import type { SandboxLease } from '../log/lease.ts';
import type { SnapshotRecord } from '../runs/snapshot-record.ts';
import { transcriptJson } from './transcript.ts';

/** The state with which the session's next sandbox starts. */
export interface SessionState {
  /** When reading it began, by Postgres's clock. */
  at: Date;
  workspace: Snapshot;
  record?: SnapshotRecord;
  /** Null if the agent has no conversation. */
  transcript: Transcript | null;
}

/**
 * Replaces the state; its blobs must exist. Returns null and changes nothing if the run has a
 * later sandbox, if another host has the lease, or after retention has removed the files. Throws if
 * another save of the transcript came between.
 */
export async function saveState(
  db: Db,
  { runId, generation, token }: SandboxLease,
  { at, workspace, record, transcript }: SessionState,
): Promise<StoredSnapshot> {
  const name = 'save_state';
  const text = `
    select outcome from ${name}($1, $2, $3, $4, $5, $6, $7) outcome where outcome is not null`;
  const values = [
    ...[runId, generation, token, at.toISOString()],
    snapshotJson(workspace),
    transcript && transcriptJson(transcript),
    record === undefined ? null : JSON.stringify(record),
  ];
  const { rows } = await db.query<{ outcome: 'recorded' | 'listed' }>({ name, text, values });
  return rows[0]?.outcome ?? null;
}
