import { type Frame, type StoredFrame, statusFrame } from '../../../core/frames/frame.ts';
import type { Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { appendOwnFrames } from '../log/append-frames.ts';
import type { SandboxLease } from '../log/lease.ts';
import { hasUnsavedTurn, lastSavedMessage } from './unsaved-turn.ts';

interface StartedSession {
  sessionId: string;
  /** The sandbox of a turn that has ended was lost before its state was saved. */
  isRolledBack: boolean;
  /** The last message whose turn is part of the saved state. */
  savedMessageId: string | null;
}

/**
 * The frames that announce a sandbox; null if it was announced before. One transaction, so that a
 * sandbox is announced once even if the process dies.
 */
export function markStarted(pool: Pool, lease: SandboxLease): Promise<StoredFrame[] | null> {
  return inTransaction(pool, async (db) => {
    const { runId, generation, token } = lease;
    const lock = 'select from run_logs where run_id = $1 and lease_token = $2 for update';
    if ((await db.query(lock, [runId, token])).rowCount !== 1) return null;
    // The run before the session, in the order of storing a message.
    await db.query('select from runs where id = $1 for no key update', [runId]);
    const { rows } = await db.query<StartedSession>(
      `update sessions s set started_generation = $2
       where run_id = $1 and started_generation < $2
       returning session_id as "sessionId", ${hasUnsavedTurn} as "isRolledBack",
                 ${lastSavedMessage} as "savedMessageId"`,
      [runId, generation],
    );
    if (!rows[0]) return null;
    await db.query(
      `update runs set status = 'running', agent_status = 'idle',
                       started_at = coalesce(started_at, db_clock())
       where id = $1 and generation = $2 and ended_at is null`,
      [runId, generation],
    );
    const frames = startFrames(rows[0]);
    const stored = await appendOwnFrames(db, { runId, token, frames });
    if (stored.outcome === 'fenced') return null;
    const { firstSeq, at } = stored;
    return frames.map((frame, index) => ({ ...frame, seq: firstSeq + index, at }));
  });
}

function startFrames({ sessionId, isRolledBack, savedMessageId }: StartedSession): Frame[] {
  const chat = (event: string, data: object): Frame => ({
    ...{ event, data: JSON.stringify(data), channel: 'chat' },
  });
  return [
    chat('session_ready', { sessionId }),
    ...(isRolledBack ? [chat('state_rolled_back', { messageId: savedMessageId })] : []),
    statusFrame('idle'),
  ];
}
