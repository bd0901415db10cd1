import { stripUnstorable } from '../../../core/sanitize-text.ts';
import type { TurnEnd } from '../../../core/sessions/chat.ts';
import type { Db } from '../client/pool.ts';
import { type Appended, appendFrames, type Batch } from './append-frames.ts';

/** What a batch implies about the messages of a session. */
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
    turnEnd?.usage == null ? null : JSON.stringify(turnEnd.usage),
    turnEnd?.costUsd ?? null,
  ];
  return appendFrames(db, batch, { name: 'append_turn', part: chatUpdates, values });
}

/**
 * A message may start and end in one batch, so one update does both. The cost of the turn is the
 * increase of the agent's running total, rounded like the total. The update of the session waits
 * for that of the run, because Postgres runs CTEs in any order: storing a message locks the run
 * before the session, and the opposite order would deadlock.
 */
const ends = '(m.id = $22::uuid and m.ended_at is null)';
const chatUpdates = `
  message_update as (
    update session_messages m
    set is_accepted = m.is_accepted or coalesce(m.id = $21::uuid, false),
        ended_at = case when ${ends} then advanced.at else m.ended_at end,
        exit_code = case when ${ends} then $23::integer else m.exit_code end,
        reply = case when ${ends} then $24::text else m.reply end,
        usage = case when ${ends} then $25::text else m.usage end,
        cost_usd = case
          when ${ends} is not true then m.cost_usd
          when $26::double precision < s.total_cost_usd then $26
          else round(($26 - s.total_cost_usd)::numeric, 6)::double precision
        end
    from sessions s, advanced
    where m.id in ($21::uuid, $22::uuid) and s.run_id = m.run_id
  ),
  session_update as (
    update sessions s
    set idle_since = advanced.at, total_cost_usd = coalesce($26::double precision, s.total_cost_usd)
    from advanced
    where s.run_id = $1 and $22::uuid is not null and (select count(*) from run_update) >= 0
  )`;
