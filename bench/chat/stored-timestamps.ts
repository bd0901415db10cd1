import type { Service } from '../../test/support/service.ts';

interface MessageRow {
  created_at: Date;
  started_at: Date;
  ended_at: Date;
}

interface FrameRow {
  seq: number;
  at: Date;
}

/**
 * Times at which Postgres stored a session's latest message and its turn, by the database clock.
 */
export async function storedTimestamps({ database }: Pick<Service, 'database'>, runId: string) {
  const messages = await database.pool.query<MessageRow>(
    'select * from session_messages where run_id = $1 order by position desc limit 1',
    [runId],
  );
  const frames = await database.pool.query<FrameRow>(
    `select seq, at from frames where run_id = $1 and event = 'chat_output'
     order by seq desc limit 1`,
    [runId],
  );
  const [message, text] = [messages.rows[0], frames.rows[0]];
  if (message === undefined || text === undefined) throw new Error('the turn was not stored');
  return {
    committed: message.created_at.getTime(),
    claimed: message.started_at.getTime(),
    endStored: message.ended_at.getTime(),
    textStored: text.at.getTime(),
    textSeq: text.seq,
  };
}
