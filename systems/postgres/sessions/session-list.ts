import type { RunStatus } from '../../../core/runs/run.ts';
import { cutPage, withBytesBefore } from '../client/page-by-bytes.ts';
import type { Db } from '../client/pool.ts';
import { cursorOf, labelPair, latestFirst, type RunCursor } from '../runs/run-list.ts';
import { listedColumns } from '../runs/run-row.ts';
import {
  type ListedSession,
  type ListedSessionRow,
  queuedColumn,
  toListedSession,
} from './session-row.ts';

export interface SessionQuery {
  flowId: string;
  limit: number;
  /** A page ends with the session whose results reach this size. */
  maxBytes: number;
  /** A field that is left out does not filter. */
  status?: RunStatus | undefined;
  ended?: boolean | undefined;
  /** The session has all of these. */
  labels?: [key: string, value: string][] | undefined;
  /** A page's `next`. */
  after?: RunCursor | undefined;
}

interface SessionPage {
  sessions: ListedSession[];
  next: RunCursor | null;
}

/** Latest first. */
export async function listSessions(db: Db, query: SessionQuery): Promise<SessionPage> {
  const { flowId, limit, maxBytes, status, ended, labels, after } = query;
  const { rows } = await db.query<ListedSessionRow & { found: number }>(listStatement, [
    ...[flowId, after?.createdAt ?? null, after?.runId ?? null, limit + 1],
    ...[status ?? null, ended ?? null, labels?.map(labelPair) ?? null, maxBytes],
  ]);
  const { page, lastBeforeNext } = cutPage(rows, limit);
  return { sessions: page.map(toListedSession), next: cursorOf(lastBeforeNext) };
}

/** `occupies_slot` is implied for running sessions, and repeated so that the index applies. */
const foundSessions = `
  select r.*, l.last_seq, s.last_message_at
  from sessions s join runs r on r.id = s.run_id join run_logs l on l.run_id = r.id
  where r.flow_id = $1 and r.session_id is not null and r.deleted_at is null
    and ($2::timestamptz is null or (r.created_at, r.id) < ($2, $3::uuid))
    and ($5::text is null or r.status = $5)
    and ($6::boolean is distinct from true or r.ended_at is not null)
    and ($6 is distinct from false or r.ended_at is null)
    and ($5 is distinct from 'running' or occupies_slot(r))
    and ($7::text[] is null or label_pairs(r.labels) @> $7)
  order by r.created_at desc, r.id desc
  limit $4`;

const listStatement = `
  select ${listedColumns}, r.last_seq, r.last_message_at, ${queuedColumn}, r.found
  from (${withBytesBefore(foundSessions, latestFirst)}) r
  where r.bytes_before < $8
  order by r.created_at desc, r.id desc`;
