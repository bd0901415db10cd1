import type { Snapshot } from '../../../core/files/file-entry.ts';
import type { Transcript } from '../../../core/sessions/transcript.ts';
import type { Db } from '../client/pool.ts';
import { snapshotJson } from '../files/snapshot-json.ts';
import type { SandboxLease } from '../log/lease.ts';
import { transcriptJson } from './transcript.ts';

/** The state with which the session's next sandbox starts. */
export interface SessionState {
  /** When reading it began, by Postgres's clock. */
  at: Date;
  workspace: Snapshot;
  /** Null if the agent has no conversation. */
  transcript: Transcript | null;
}

/**
 * Replaces the state; its blobs must exist. Returns false and changes nothing if the run has a
 * later sandbox, if another host has the lease, or after retention has removed the files. Throws if
 * another save of the transcript came between.
 */
export async function saveState(
  db: Db,
  { runId, generation, token }: SandboxLease,
  { at, workspace, transcript }: SessionState,
): Promise<boolean> {
  const text = 'select from save_state($1, $2, $3, $4, $5, $6) saved where saved';
  const { rowCount } = await db.query(text, [
    ...[runId, generation, token, at.toISOString()],
    snapshotJson(workspace),
    transcript && transcriptJson(transcript),
  ]);
  return rowCount === 1;
}
