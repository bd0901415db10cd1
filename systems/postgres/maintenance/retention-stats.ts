import type { Db } from '../client/pool.ts';
import { before, isCollectable } from './retention-store.ts';

export interface RetentionTimes {
  runMs: number;
  sessionFilesMs: number;
  webhookAttemptsMs: number;
  tombstoneMs: number;
  unreferencedBlobMs: number;
}

/** What has been kept for long enough and waits to be removed. */
export interface Overdue {
  kind: string;
  count: number;
  /** For how long the first of them has waited; 0 where none does. */
  lateMs: number;
}

const ended = (of: string): string => `runs where ended_at is not null and ${of}`;

/** In the order in which the sweep takes them. */
export function overdueRows(db: Db, kept: RetentionTimes): Promise<Overdue[]> {
  const kinds: [kind: string, since: string, rows: string, keptMs: number][] = [
    ['idempotency keys', 'expires_at', 'idempotency_keys where true', 0],
    ['logs', 'ended_at', ended('log_purged_at is null'), kept.runMs],
    [
      'files of runs',
      'ended_at',
      ended('files_purged_at is null and session_id is null'),
      kept.runMs,
    ],
    [
      'files of sessions',
      'ended_at',
      ended('files_purged_at is null and session_id is not null'),
      kept.sessionFilesMs,
    ],
    ['webhook attempts', 'started_at', 'webhook_attempts where true', kept.webhookAttemptsMs],
    [
      'deleted runs',
      'deleted_at',
      `${ended('deleted_at is not null')} and webhook_state not in ('waiting', 'pending')
       and not exists (select from idempotency_keys k where k.run_id = runs.id)`,
      kept.tombstoneMs,
    ],
  ];
  return Promise.all(
    kinds.map(async ([kind, since, rows, keptMs]) => {
      const text = `select ${countAndAge(since)} from ${rows} and ${since} < ${before('$1')}`;
      return { kind, ...(await countOverdue(db, text, keptMs)) };
    }),
  );
}

/** Looks at every blob there is. */
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

async function countOverdue(db: Db, text: string, keptMs: number): Promise<Omit<Overdue, 'kind'>> {
  const { rows } = await db.query<Omit<Overdue, 'kind'>>(text, [keptMs]);
  return rows[0] ?? { count: 0, lateMs: 0 };
}

export interface TableSize {
  table: string;
  /** With its indexes and what lies beside it. */
  bytes: number;
  /** As the server estimates it. */
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
