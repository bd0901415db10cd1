import { stripUnstorable } from '../../../core/sanitize-text.ts';
import type { TurnEnd } from '../../../core/sessions/chat.ts';
import type { Db } from '../client/pool.ts';
import { type Appended, appendFrames, type Batch } from './append-frames.ts';

/** What a batch says of a session's messages. */
export interface ChatUpdate {
  startedMessage?: string;
  turnEnd?: TurnEnd;
}

/**
 * Frames that begin or end the turn of a session: they and what they mean for its message are stored
 * by one statement. Safe to repeat like the frames themselves.
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
    turnEnd?.usage == null ? null : JSON.stringify(turnEnd.usage),
    turnEnd?.costUsd ?? null,
  ];
  return appendFrames(db, batch, { name: 'append_turn', part: noteMessages, values });
}

/**
 * A message may begin and end in one batch, so one update does both. Of the agent's running total the
 * turn has what is new in it, rounded as the total is. The session waits for what is noted on its run, because Postgres takes
 * the parts of a statement in an order of its own: whoever stores a message takes the run before the
 * session, and the two would wait for each other.
 */
const ends = '(m.id = $22::uuid and m.ended_at is null)';
const noteMessages = `
  told as (
    update session_messages m
    set is_accepted = m.is_accepted or coalesce(m.id = $21::uuid, false),
        ended_at = case when ${ends} then moved.at else m.ended_at end,
        exit_code = case when ${ends} then $23::integer else m.exit_code end,
        reply = case when ${ends} then $24::text else m.reply end,
        usage = case when ${ends} then $25::text else m.usage end,
        cost_usd = case
          when ${ends} is not true then m.cost_usd
          when $26::double precision < s.total_cost_usd then $26
          else round(($26 - s.total_cost_usd)::numeric, 6)::double precision
        end
    from sessions s, moved
    where m.id in ($21::uuid, $22::uuid) and s.run_id = m.run_id
  ),
  rested as (
    update sessions s
    set idle_since = moved.at, total_cost_usd = coalesce($26::double precision, s.total_cost_usd)
    from moved
    where s.run_id = $1 and $22::uuid is not null and (select count(*) from noted) >= 0
  )`;
