import { type Frame, statusFrame } from '../../../core/frames/frame.ts';
import { stripUnstorable } from '../../../core/sanitize-text.ts';
import type { UndeliveredMessage } from '../../../core/sessions/chat.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { appendOwnFrames } from '../log/append-frames.ts';
import type { SandboxGeneration } from '../log/lease.ts';

/**
 * The sandbox of this generation could not be started. The message that it was meant for fails with
 * the reason, the session continues, and its slot is released unless other messages are left. The
 * generation counts as used, so a second call changes nothing, like a call after the session's end.
 * Returns whether it changed anything.
 */
export function failTurn(
  pool: Pool,
  { runId, generation }: SandboxGeneration,
  undelivered: UndeliveredMessage,
): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    // Every writer of a log locks it before its run.
    await db.query('select from run_logs where run_id = $1 for update', [runId]);
    const { rowCount } = await db.query(
      `update runs set generation = $2 + 1, host_id = null, waiting_since = null, status = 'sleep'
       where id = $1 and generation <= $2 and end_cause is null`,
      [runId, generation],
    );
    if (rowCount !== 1) return false;
    const failed = await failOldestMessage(db, runId, undelivered);
    if (failed !== null) {
      await appendOwnFrames(db, {
        runId,
        frames: failureFrames(failed, undelivered),
        facts: { agentStatus: 'error' },
      });
      await markIdle(db, runId, { ...failed, ...undelivered });
    }
    await db.query('update runs set holds_slot = session_has_work(id) where id = $1', [runId]);
    return true;
  });
}

export interface FailedTurn {
  messageId: string;
  text: string;
  sessionId: string;
  /** The log has its `user_message` frame. */
  isLogged: boolean;
}

/** A CTE that counts the replies of `failed` messages. */
export const replyCounted = `
  counted as (
    insert into stored_bytes_changes (project_id, kind, bytes)
    select r.project_id, 'messages', octet_length(f.reply)
    from failed f join runs r on r.id = f.run_id
  )`;

async function failOldestMessage(
  db: Db,
  runId: string,
  { error, reason }: UndeliveredMessage,
): Promise<FailedTurn | null> {
  const { rows } = await db.query<FailedTurn>(
    `with failed as (
       update session_messages m
       set ended_at = db_clock(), exit_code = 1, reply = $2, error = $3,
           delivery_attempts = m.delivery_attempts + 1
       from sessions s
       where s.run_id = m.run_id and m.id = (
         select o.id from session_messages o
         where o.run_id = $1 and o.ended_at is null order by o.position limit 1
       )
       returning m.id as "messageId", m.text, m.reply, m.run_id, s.session_id as "sessionId",
         m.delivery_attempts > 1 as "isLogged"
     ), ${replyCounted}
     select "messageId", text, "sessionId", "isLogged" from failed`,
    [runId, reason, error],
  );
  return rows[0] ?? null;
}

/** The session is idle after a turn that the service has failed. */
export async function markIdle(
  db: Db,
  runId: string,
  { messageId, error, reason }: Pick<FailedTurn, 'messageId'> & UndeliveredMessage,
): Promise<void> {
  await db.query(
    `with idle as (
       update sessions set idle_since = db_clock() where run_id = $1 returning run_id
     )
     select add_session_idle(run_id, $2, 1, $3, $4) from idle`,
    [runId, messageId, stripUnstorable(reason), error],
  );
}

/** The reason takes the place of the agent's answer. */
export function failureFrames(
  { messageId, text, sessionId, isLogged }: FailedTurn,
  { error, reason }: UndeliveredMessage,
): Frame[] {
  const frame = (event: string, data: object): Frame => ({
    event,
    data: JSON.stringify(data),
    channel: 'chat',
  });
  return [
    ...(isLogged ? [] : [frame('user_message', { messageId, text })]),
    frame('chat_output', { text: reason }),
    statusFrame('error'),
    frame('turn_end', { exitCode: 1, sessionId, messageId, error }),
  ];
}
