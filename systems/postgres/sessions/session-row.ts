import type { Session } from '../../../core/sessions/session.ts';
import {
  type ListedRun,
  type ListedRunRow,
  type RunRow,
  toListedRun,
  toRun,
} from '../runs/run-row.ts';

/** The messages of the session `r` that wait for an agent. */
export const queuedColumn = `
  (select count(*) from session_messages m
   where m.run_id = r.id and m.ended_at is null and m.delivery_attempts = 0) as queued`;

interface SessionColumns {
  last_message_at: Date | null;
  queued: number;
}

export type SessionRow = RunRow & SessionColumns;
export type ListedSessionRow = ListedRunRow & SessionColumns;

/** A session in lists. */
export type ListedSession = Omit<Session, 'run'> & { run: ListedRun };

export const toSession = (row: SessionRow): Session => ({
  ...toListedSession(row),
  run: toRun(row),
});

export const toListedSession = (row: ListedSessionRow): ListedSession => ({
  run: toListedRun(row),
  queued: row.queued,
  lastMessageAt: row.last_message_at,
});
