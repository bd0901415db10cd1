import { limits } from '../../../core/limits.ts';
import type { RunOutline, Usage } from '../../../core/runs/run.ts';
import { type ChangeAuthor, changeBy } from '../accounts/record-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { outlineColumns, type RunOutlineRow, toOutline } from '../runs/run-row.ts';
import {
  dryRunWithFiles,
  type MessageFiles,
  type NewMessage,
  storeRecorded,
  storeWithFiles,
} from './store-message.ts';
import { listUnfinished, type UnfinishedQuery, withdrawMessage } from './unfinished-messages.ts';
import { type AssignedSandbox, wakeSession } from './wake-session.ts';

/** The end of a message's turn. */
export interface MessageEnd {
  exitCode: number;
  /** Null if the agent ended the turn, successfully or not. */
  error: string | null;
  reply: string | null;
  /** The usage of the turn's model calls. */
  usage: Usage;
  /** Null if it is unknown. */
  costNanos: number | null;
}

export type MessageStore = ReturnType<typeof createMessageStore>;

/** The messages of users to sessions. */
export function createMessageStore(pool: Pool, hostStaleMs: number = limits.host.staleMs) {
  return {
    store: (message: NewMessage) => storeRecorded(pool, message, hostStaleMs),
    /**
     * The result of `storeWithFiles` without any change, so that only accepted files are uploaded.
     */
    dryRunWithFiles: (message: NewMessage, files: MessageFiles) =>
      dryRunWithFiles(pool, message, { ...files, hostStaleMs }),
    storeWithFiles: (message: NewMessage, files: MessageFiles) =>
      storeWithFiles(pool, message, { ...files, hostStaleMs }),
    /**
     * Assigns a host to a sleeping session that has a message. Null if it needs none, or if every
     * host is full. A second call changes nothing.
     */
    wakeSession: (runId: string): Promise<AssignedSandbox | null> =>
      wakeSession(pool, runId, hostStaleMs),
    /** The message whose turn was announced and has not ended, in any sandbox. */
    currentMessage: (runId: string) => findCurrentMessage(pool, runId),
    markSignalled: (messageId: string) => markSignalled(pool, messageId),
    /** The same for many messages. Returns those whose rows are locked, to mark again. */
    markMessagesSignalled: (messageIds: string[]) => markMessagesSignalled(pool, messageIds),
    /** The ends of those turns that have ended, by message. */
    ends: (messageIds: string[]) => findEnds(pool, messageIds),
    /** How many messages come before it, including the one in progress. */
    position: (messageId: string) => countBefore(pool, messageId),
    /** The queue of a session, with the message in progress. */
    listUnfinished: (runId: string, query: UnfinishedQuery) => listUnfinished(pool, runId, query),
    /** Withdraws a message that no agent can have received. */
    withdraw: (runId: string, messageId: string, author?: ChangeAuthor) =>
      changeBy(pool, author, (db) => withdrawMessage(db, { runId, messageId, author })),
    /**
     * A page of sessions with messages that their workflow was not notified of, each with its
     * oldest. Those after the run `after` come first, then the others.
     */
    unsignalled: (olderThanMs: number, after?: string) => unsignalled(pool, olderThanMs, after),
  };
}

async function findCurrentMessage(db: Db, runId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from session_messages
     where run_id = $1 and ended_at is null and delivery_attempts > 0 order by position limit 1`,
    [runId],
  );
  return rows[0]?.id ?? null;
}

async function markSignalled(db: Db, messageId: string): Promise<void> {
  const text = 'update session_messages set signalled_at = db_clock() where id = $1';
  await db.query({ name: 'mark_signalled', text, values: [messageId] });
}

/** Nothing is signalled for a message that has ended. */
async function markMessagesSignalled(db: Db, messageIds: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with unsignalled as (
       select id from session_messages
       where id = any($1) and ended_at is null and signalled_at is null
     ),
     unlocked as (
       select id from session_messages where id in (select id from unsignalled)
       for no key update skip locked
     ),
     marked as (
       update session_messages set signalled_at = db_clock()
       where id in (select id from unlocked)
     )
     select id from unsignalled where id not in (select id from unlocked)`,
    [messageIds],
  );
  return rows.map(({ id }) => id);
}

async function findEnds(db: Db, messageIds: string[]): Promise<Map<string, MessageEnd>> {
  const { rows } = await db.query<Omit<MessageEnd, 'usage'> & Usage & { id: string }>(
    `select m.id, m.exit_code as "exitCode", case when m.exit_code <> 0 then m.error end as error,
            m.reply, s.*
     from session_messages m
     cross join lateral (
       select coalesce(sum(t.input_tokens), 0)::bigint as "inputTokens",
              coalesce(sum(t.output_tokens), 0)::bigint as "outputTokens",
              coalesce(sum(t.cache_read_tokens), 0)::bigint as "cacheReadInputTokens",
              coalesce(sum(t.cache_write_tokens), 0)::bigint as "cacheCreationInputTokens",
              case when sum(t.unpriced_calls) = 0 then sum(t.cost_nanos)::bigint end as "costNanos"
       from turn_spending t where t.turn_id = m.id
     ) s
     where m.id = any($1) and m.ended_at is not null`,
    [messageIds],
  );
  return new Map(
    rows.map(({ id, exitCode, error, reply, costNanos, ...usage }) => [
      id,
      { exitCode, error, reply, costNanos, usage },
    ]),
  );
}

async function countBefore(db: Db, messageId: string): Promise<number> {
  const { rows } = await db.query<{ before: number }>(
    `select count(*)::integer as before
     from session_messages m
     join session_messages o on o.run_id = m.run_id and o.position < m.position
     where m.id = $1 and o.ended_at is null`,
    [messageId],
  );
  return rows[0]?.before ?? 0;
}

async function unsignalled(
  db: Db,
  olderThanMs: number,
  after: string | undefined,
): Promise<{ run: RunOutline; messageId: string }[]> {
  const { rows } = await db.query<RunOutlineRow & { message_id: string }>(
    `select ${outlineColumns}, l.last_seq, m.message_id
     from (
       select distinct on (run_id <= $2::uuid, run_id) run_id, id as message_id
       from session_messages
       where ended_at is null and signalled_at is null
         and created_at < db_clock() - $1 * interval '1 ms'
       order by run_id <= $2::uuid, run_id, position limit 200
     ) m
     join runs r on r.id = m.run_id
     join run_logs l on l.run_id = r.id
     order by m.run_id <= $2::uuid, m.run_id`,
    [olderThanMs, after],
  );
  return rows.map((row) => ({ run: toOutline(row), messageId: row.message_id }));
}
