import { limits } from '../../../core/limits.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { purgeEvents } from '../endpoints/purge-events.ts';
import { before } from './before-now.ts';
import { packLogs } from './pack-logs.ts';
import { removeBlobs } from './purge-blobs.ts';
import { purgeFilesOfOldest, purgeFlowFiles, purgeMessageFiles } from './purge-files.ts';
import { purgeLogs, removeFrames, removeMessages, removeQuestions } from './purge-logs.ts';
import { purgeTogether, type Unpurged } from './purge-together.ts';

export type RetentionStore = ReturnType<typeof createRetentionStore>;

/**
 * Deletes data whose retention has expired, the oldest first and a bounded number per call. Apart
 * from the blobs, each returns how many rows were deleted or marked: 0 if nothing is left. Skips
 * the `unpurged` runs or blobs, and adds those that cannot be purged, and a batch of runs that are
 * all locked. Safe to repeat.
 */
export function createRetentionStore(pool: Pool) {
  return {
    expiredKeys: () => purgeExpiredKeys(pool),
    /**
     * Part of the logs of some ended runs, and of their messages; with the last part also their
     * questions.
     */
    logs: (retentionMs: number, unpurged: Unpurged = new Map()) =>
      purgeLogs(pool, retentionMs, unpurged),
    /** The stored files and the input files of some ended runs. */
    runFiles: (retentionMs: number, unpurged: Unpurged = new Map()) =>
      purgeFilesOfOldest(pool, { of: 'run', retentionMs, unpurged }),
    /** The same for a session, with its transcripts. */
    sessionFiles: (retentionMs: number, unpurged: Unpurged = new Map()) =>
      purgeFilesOfOldest(pool, { of: 'session', retentionMs, unpurged }),
    /** Of messages whose turn has ended. */
    messageFiles: () => purgeMessageFiles(pool),
    /** Versions of flow files that no active run needs. */
    flowFiles: () => purgeFlowFiles(pool),
    webhookAttempts: (retentionMs: number) => purgeAttempts(pool, retentionMs),
    /** The events for endpoints, with their attempts. */
    webhookEvents: (retentionMs: number) => purgeEvents(pool, retentionMs),
    modelCalls: (retentionMs: number) => purgeModelCalls(pool, retentionMs),
    /** What the calls of a turn, of a day, of a label and of a month used together. */
    spending: (retentionMs: number) => purgeSpending(pool, retentionMs),
    /**
     * Packs the logs of some runs that ended this long ago, until the time is over. Returns how
     * many rows were stored.
     */
    packLogs: (afterMs: number, unpacked: Unpurged = new Map(), isOver = () => false) =>
      packLogs(pool, { afterMs, unpacked, isOver }),
    /** Changes of what projects store: adds them to the sums. */
    storedBytes: () => foldStoredBytes(pool),
    /** One deleted run with all its rows, once no client can ask for it. */
    tombstone: (retentionMs: number, unpurged: Unpurged = new Map()) =>
      purgeTombstone(pool, retentionMs, unpurged),
    /**
     * Deletes unreferenced blobs among the next ones; null after the last blob. A statement deletes
     * a bounded number of bytes.
     */
    removeBlobs: (retentionMs: number, after: string, unpurged: Unpurged = new Map()) =>
      removeBlobs(pool, { retentionMs, after, unpurged }),
  };
}

/** Skips a key that an admission replaces: the keys locked here are of several projects. */
async function purgeExpiredKeys(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotency_keys where (project_id, key) in (
       select project_id, key from idempotency_keys
       where expires_at < (select db_clock()) order by expires_at limit $1
       for update skip locked
     )`,
    [limits.retention.batchRows],
  );
  return rowCount ?? 0;
}

async function purgeAttempts(db: Db, retentionMs: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from webhook_attempts where ctid = any(array(
       select ctid from webhook_attempts
       where started_at < ${before('$1')} order by started_at limit $2
     ))`,
    [retentionMs, limits.retention.batchRows],
  );
  return rowCount ?? 0;
}

async function purgeModelCalls(db: Db, retentionMs: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from model_calls where id in (
       select id from model_calls where ended_at < ${before('$1')} order by ended_at limit $2
     )`,
    [retentionMs, limits.retention.batchRows],
  );
  return rowCount ?? 0;
}

async function purgeSpending(db: Db, retentionMs: number): Promise<number> {
  const overdue = (table: string, day = 'day'): string => `
    delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${day} < ((${before('$1')}) at time zone 'UTC')::date
      order by ${day} limit $2
    )) returning 1`;
  const { rows } = await db.query<{ deleted: number }>(
    `with turns as (${overdue('turn_spending')}), days as (${overdue('daily_spending')}),
       labels as (${overdue('daily_label_spending')}),
       months as (${overdue('monthly_spending', 'month')}),
       thresholds as (${overdue('passed_thresholds', 'month')})
     select (select count(*) from turns) + (select count(*) from days)
       + (select count(*) from labels) + (select count(*) from months)
       + (select count(*) from thresholds) as deleted`,
    [retentionMs, limits.retention.batchRows],
  );
  return rows[0]?.deleted ?? 0;
}

async function foldStoredBytes(db: Db): Promise<number> {
  const text = 'select fold_stored_bytes($1) as folded';
  const { rows } = await db.query<{ folded: number }>(text, [limits.retention.foldRows]);
  return rows[0]?.folded ?? 0;
}

/** Keeps runs that a webhook or an idempotency key may still name. */
async function purgeTombstone(
  pool: Pool,
  retentionMs: number,
  unpurged: Unpurged,
): Promise<number> {
  const { rows } = await pool.query<{ id: string }>(
    `select r.id from runs r
     where r.deleted_at is not null and r.deleted_at < ${before('$1')} and r.ended_at is not null
       and r.webhook_state not in ('waiting', 'pending')
       and not exists (select from idempotency_keys k where k.run_id = r.id)
       and r.id <> all($2::uuid[])
     order by r.deleted_at limit 1`,
    [retentionMs, [...unpurged.keys()]],
  );
  const ids = rows.map(({ id }) => id);
  return purgeTogether(
    ids,
    unpurged,
    async (due) =>
      (await removeFrames(pool, due)) || (await removeMessages(pool, due)) || removeRuns(pool, due),
  );
}

/** Everything that references a run, deleted before the run. */
const runTables = [
  'frames',
  'packed_frames',
  'session_transcripts',
  'session_messages',
  'sessions',
  'input_files',
  'run_files',
  'run_links',
  'run_folders',
  'webhook_attempts',
  'run_configs',
  'run_logs',
];

function removeRuns(pool: Pool, runIds: string[]): Promise<number> {
  return inTransaction(pool, async (db) => {
    for (const table of runTables)
      await db.query(`delete from ${table} where run_id = any($1::uuid[])`, [runIds]);
    await db.query(`with ${removeQuestions('select unnest($1::uuid[])')} select`, [runIds]);
    const { rows } = await db.query<{ deleted: number }>(
      `with deleted as (
         delete from runs where id = any($1::uuid[])
         returning project_id, octet_length(prompt) + coalesce(octet_length(result), 0)
           + coalesce(octet_length(structured_output), 0)
           + coalesce(octet_length(webhook_body), 0) as bytes
       ),
       counted as (
         insert into stored_bytes_changes (project_id, kind, bytes)
         select project_id, 'messages', -sum(bytes) from deleted group by project_id
       )
       select count(*) as deleted from deleted`,
      [runIds],
    );
    return rows[0]?.deleted ?? 0;
  });
}
