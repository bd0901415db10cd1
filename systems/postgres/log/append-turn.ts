import { stripUnstorable } from '../../../core/sanitize-text.ts';
import type { TurnEnd } from '../../../core/sessions/chat.ts';
import type { Db } from '../client/pool.ts';
import { type Appended, appendFrames, type Batch } from './append-frames.ts';

/** The changes of a session's messages that a batch implies. */
export interface ChatUpdate {
  startedMessage?: string;
  turnEnd?: TurnEnd;
}

/**
 * Frames that start or end a turn of a session. One statement stores them and their effect on the
 * message. Safe to repeat, like `appendFrames`.
 */
export function appendTurnFrames(
  db: Db,
  batch: Batch,
  { startedMessage, turnEnd }: ChatUpdate,
): Promise<Appended> {
  const values = [
    startedMessage ?? null,
    turnEnd?.messageId ?? null,
    turnEnd?.exitCode ?? null,
    turnEnd?.reply == null ? null : stripUnstorable(turnEnd.reply),
  ];
  const extra = { part: chatUpdates, result: idleEvent, values };
  return appendFrames(db, batch, { name: 'append_turn', ...extra });
}

/**
 * A message may start and end in one batch, so one update does both. The update of the session
 * waits for that of the run, because Postgres runs CTEs in any order: storing a message locks the
 * run before the session, and the opposite order would deadlock.
 */
const ends = '(m.id = $17::uuid and m.ended_at is null)';
const chatUpdates = `
  message_update as (
    update session_messages m
    set is_accepted = m.is_accepted or coalesce(m.id = $16::uuid, false),
        ended_at = case when ${ends} then advanced.at else m.ended_at end,
        exit_code = case when ${ends} then $18::integer else m.exit_code end,
        reply = case when ${ends} then $19::text else m.reply end
    from advanced
    where m.id in ($16::uuid, $17::uuid)
    returning m.id = $17::uuid and m.ended_at = advanced.at as has_ended, m.reply
  ),
  reply_counted as (
    insert into stored_bytes_changes (project_id, kind, bytes)
    select r.project_id, 'messages', octet_length(m.reply)
    from message_update m, runs r where r.id = $1 and m.has_ended and m.reply <> ''
  ),
  session_update as (
    update sessions s
    set idle_since = advanced.at
    from advanced
    where s.run_id = $1 and $17::uuid is not null and (select count(*) from run_update) >= 0
  )`;

/** Waits for the update of the run as well, so that it sees each message that was stored before. */
const idleEvent = `(
  select count(add_session_idle($1, $17, $18, m.reply, null)) from message_update m
  where m.has_ended and (select count(*) from run_update) >= 0
)`;
