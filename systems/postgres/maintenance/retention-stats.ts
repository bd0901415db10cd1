import type { Db } from '../client/pool.ts';
import { before } from './before-now.ts';
import { isCollectable } from './purge-blobs.ts';

export interface RetentionTimes {
  runMs: number;
  sessionFilesMs: number;
  webhookAttemptsMs: number;
  modelCallsMs: number;
  tombstoneMs: number;
  unreferencedBlobMs: number;
}

/** Rows that are past their retention and wait for deletion. */
export interface Overdue {
  kind: string;
  count: number;
  /** How long the oldest has waited; 0 if none waits. */
  lateMs: number;
}

const ended = (of: string): string => `runs where ended_at is not null and ${of}`;

/** In the order in which retention handles them. */
export function overdueRows(db: Db, retention: RetentionTimes): Promise<Overdue[]> {
  const kinds: [kind: string, since: string, rows: string, retentionMs: number][] = [
    ['idempotency keys', 'expires_at', 'idempotency_keys where true', 0],
    ['logs', 'ended_at', ended('log_purged_at is null'), retention.runMs],
    [
      'files of runs',
      'ended_at',
      ended('files_purged_at is null and session_id is null'),
      retention.runMs,
    ],
    [
      'files of sessions',
      'ended_at',
      ended('files_purged_at is null and session_id is not null'),
      retention.sessionFilesMs,
    ],
    [
      'files of messages',
      'ended_at',
      `session_messages m where m.ended_at is not null
       and exists (select from message_files f where f.message_id = m.id)`,
      0,
    ],
    ['webhook attempts', 'started_at', 'webhook_attempts where true', retention.webhookAttemptsMs],
    ['webhook events', 'created_at', 'webhook_events where true', retention.webhookAttemptsMs],
    ['model calls', 'ended_at', 'model_calls where true', retention.modelCallsMs],
    [
      'deleted runs',
      'deleted_at',
      `${ended('deleted_at is not null')} and webhook_state not in ('waiting', 'pending')
       and not exists (select from idempotency_keys k where k.run_id = runs.id)`,
      retention.tombstoneMs,
    ],
  ];
  return Promise.all(
    kinds.map(async ([kind, since, rows, retentionMs]) => {
      const text = `select ${countAndAge(since)} from ${rows} and ${since} < ${before('$1')}`;
      return { kind, ...(await countOverdue(db, text, retentionMs)) };
    }),
  );
}

/** Scans all blobs. */
export async function overdueBlobs(
  db: Db,
  { unreferencedBlobMs }: RetentionTimes,
): Promise<Overdue & { bytes: number }> {
  const text = `select coalesce(sum(b.size), 0)::bigint as bytes, ${countAndAge('b.created_at')}
                from blobs b where ${isCollectable}`;
  const { rows } = await db.query<{ count: number; lateMs: number; bytes: number }>(text, [
    unreferencedBlobMs,
  ]);
  return { kind: 'blobs', ...(rows[0] ?? { count: 0, lateMs: 0, bytes: 0 }) };
}

const countAndAge = (since: string): string => `
  count(*) as count,
  coalesce(extract(epoch from db_clock() - min(${since})) * 1000 - $1::float8, 0)::bigint as "lateMs"`;

async function countOverdue(
  db: Db,
  text: string,
  retentionMs: number,
): Promise<Omit<Overdue, 'kind'>> {
  const { rows } = await db.query<Omit<Overdue, 'kind'>>(text, [retentionMs]);
  return rows[0] ?? { count: 0, lateMs: 0 };
}

export interface TableSize {
  table: string;
  /** Including indexes and TOAST. */
  bytes: number;
  /** Estimated by the server. */
  rows: number;
}

export async function largestTables(db: Db, limit: number): Promise<TableSize[]> {
  const { rows } = await db.query<TableSize>(
    `select relname as table, pg_total_relation_size(relid) as bytes, n_live_tup as rows
     from pg_stat_user_tables order by bytes desc limit $1`,
    [limit],
  );
  return rows;
}
