import type { Snapshot } from '../../../core/files/file-entry.ts';
import type { Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { replaceTree } from '../files/replace-snapshot.ts';
import { lockCurrentGeneration } from '../log/fencing.ts';
import type { SandboxLease } from '../log/lease.ts';
import { replaceTranscript } from './transcript.ts';

/** What the session's next sandbox starts with. */
export interface SessionState {
  /** When reading it began, by Postgres's clock. */
  at: Date;
  workspace: Snapshot;
  /** Null if the agent has no conversation. */
  transcript: Snapshot | null;
}

/**
 * Replaces the state; its blobs must exist. One transaction, because an agent whose files are older or newer
 * than its conversation would work with wrong assumptions. Returns false and changes nothing if the run
 * has a later sandbox, if another host has the lease, or after retention has removed the files.
 */
export function saveState(
  pool: Pool,
  of: SandboxLease,
  { at, workspace, transcript }: SessionState,
): Promise<boolean> {
  const { runId } = of;
  return inTransaction(pool, async (db) => {
    if (!(await lockCurrentGeneration(db, of))) return false;
    await replaceTree(db, runId, workspace);
    if (transcript !== null) await replaceTranscript(db, runId, transcript);
    const text = 'update sessions set snapshot_at = $2 where run_id = $1';
    await db.query(text, [runId, at.toISOString()]);
    return true;
  });
}
