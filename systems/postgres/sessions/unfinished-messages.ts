// The queued messages of a session and the one in progress.

import type { ChangeAuthor } from '../accounts/record-entry.ts';
import { bytesOf, cutPage, withBytesBefore } from '../client/page-by-bytes.ts';
import type { Db } from '../client/pool.ts';
import { recordRunChange } from '../runs/record-run-change.ts';

export interface UnfinishedMessage {
  messageId: string;
  /** The number of messages before it, including the one in progress. */
  position: number;
  /** An agent may have received it. */
  isDelivered: boolean;
  text: string;
  createdAt: Date;
}

export interface UnfinishedQuery {
  limit: number;
  /** A page ends with the message whose text reaches this size. */
  maxBytes: number;
  /** The `next` of the previous page. */
  after?: string | undefined;
}

interface UnfinishedPage {
  messages: UnfinishedMessage[];
  /** The last message of the page; null if it is the last page. */
  next: string | null;
}

/** In queue order. */
export async function listUnfinished(
  db: Db,
  runId: string,
  { limit, maxBytes, after }: UnfinishedQuery,
): Promise<UnfinishedPage> {
  const { rows } = await db.query<UnfinishedMessage & { found: number }>(listStatement, [
    ...[runId, after ?? null, limit + 1, maxBytes],
  ]);
  const { page, lastBeforeNext } = cutPage(rows, limit);
  return { messages: page, next: lastBeforeNext?.messageId ?? null };
}

/** Positions count the messages before the page, so these are removed afterwards. */
const unfinished = `
  select * from (
    select m.id, m.position as nth, m.text, m.created_at, m.delivery_attempts,
      row_number() over (order by m.position) - 1 as before
    from session_messages m where m.run_id = $1 and m.ended_at is null
  ) all_unfinished
  where $2::uuid is null
    or nth > (select p.position from session_messages p where p.id = $2 and p.run_id = $1)
  order by nth limit $3`;

const listStatement = `
  select m.id as "messageId", m.before as position, m.delivery_attempts > 0 as "isDelivered",
    m.text, m.created_at as "createdAt", m.found
  from (${withBytesBefore(unfinished, { bytes: bytesOf('text'), order: 'f.nth' })}) m
  where m.bytes_before < $4
  order by m.nth`;

/**
 * `not_queued`: an agent may have received the message, or its turn has ended. `unknown`: the
 * session has no such message.
 */
type Withdrawal = 'withdrawn' | 'already_withdrawn' | 'not_queued' | 'unknown';

export async function withdrawMessage(
  db: Db,
  { runId, messageId, author }: { runId: string; messageId: string; author: ChangeAuthor },
): Promise<Withdrawal> {
  const text = 'select withdraw_message($1, $2) as outcome';
  const { rows } = await db.query<{ outcome: Withdrawal }>(text, [runId, messageId]);
  if (!rows[0]) throw new Error('withdraw_message returned no row');
  const { outcome } = rows[0];
  const fields = { fieldsBefore: ['message'] };
  if (outcome === 'withdrawn')
    await recordRunChange(db, author, { runId, action: 'message_withdrawn', ...fields });
  return outcome;
}
