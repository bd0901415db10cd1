import { limits } from '../../../core/limits.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';

export type RetentionStore = ReturnType<typeof createRetentionStore>;

/**
 * What has been kept for long enough goes, oldest first and a bounded piece at a time. All but the
 * blobs answer how many rows went or were settled: 0 once nothing is left to do. Safe to repeat.
 */
export function createRetentionStore(pool: Pool) {
  return {
    expiredKeys: () => purgeExpiredKeys(pool),
    /** A piece of the log of one ended run, and with the last piece its questions. */
    log: (keptMs: number) => purgeLog(pool, keptMs),
    /** What the working directory of one ended run held. */
    runFiles: (keptMs: number) => purgeFiles(pool, keptMs, 'run'),
    /** The same of a session, with its conversation. */
    sessionFiles: (keptMs: number) => purgeFiles(pool, keptMs, 'session'),
    webhookAttempts: (keptMs: number) => purgeAttempts(pool, keptMs),
    /** One deleted run with all that is left of it, once nothing can ask for it any more. */
    tombstone: (keptMs: number) => purgeTombstone(pool, keptMs),
    /** The blobs of the next page that nothing names; null after the last page. */
    unreferencedBlobs: (keptMs: number, after: string) => unnamedBlobs(pool, keptMs, after),
    /** Looks again whether it is still unnamed and old. False where it is not. */
    removeBlob: (keptMs: number, sha256: string) => removeBlob(pool, keptMs, sha256),
  };
}

export interface BlobPage {
  /** Hex. */
  unreferenced: string[];
  last: string;
}

export const before = (parameter: string): string => `db_clock() - ${parameter} * interval '1 ms'`;

async function purgeExpiredKeys(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotency_keys where (project_id, key) in (
       select project_id, key from idempotency_keys
       where expires_at < db_clock() order by expires_at limit $1
     ) and expires_at < db_clock()`,
    [limits.retentionBatchRows],
  );
  return rowCount ?? 0;
}

async function purgeLog(db: Db, keptMs: number): Promise<number> {
  const { rows } = await db.query<{ id: string }>(
    `select id from runs
     where ended_at is not null and log_purged_at is null and ended_at < ${before('$1')}
     order by ended_at limit 1`,
    [keptMs],
  );
  if (!rows[0]) return 0;
  return (await removeFrames(db, rows[0].id)) || markLogPurged(db, rows[0].id);
}

async function removeFrames(db: Db, runId: string): Promise<number> {
  const { rowCount } = await db.query(
    `delete from frames where run_id = $1 and seq in (
       select seq from frames where run_id = $1 order by seq limit $2
     )`,
    [runId, limits.retentionBatchRows],
  );
  return rowCount ?? 0;
}

async function markLogPurged(db: Db, runId: string): Promise<number> {
  const { rowCount } = await db.query(
    `with questions as (delete from interactions where run_id = $1)
     update runs set log_purged_at = db_clock() where id = $1`,
    [runId],
  );
  return rowCount ?? 0;
}

async function purgeFiles(db: Db, keptMs: number, of: 'run' | 'session'): Promise<number> {
  const kind = of === 'run' ? 'session_id is null' : 'session_id is not null';
  const { rowCount } = await db.query(
    `with due as (
       select id from runs
       where ended_at is not null and files_purged_at is null and ${kind}
         and ended_at < ${before('$1')}
       order by ended_at limit 1
     ),
     files as (delete from run_files f using due where f.run_id = due.id),
     transcripts as (delete from session_transcripts t using due where t.run_id = due.id)
     update runs r set files_purged_at = db_clock() from due where r.id = due.id`,
    [keptMs],
  );
  return rowCount ?? 0;
}

async function purgeAttempts(db: Db, keptMs: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from webhook_attempts where (run_id, delivery, attempt) in (
       select run_id, delivery, attempt from webhook_attempts
       where started_at < ${before('$1')} order by started_at limit $2
     )`,
    [keptMs, limits.retentionBatchRows],
  );
  return rowCount ?? 0;
}

/** Whose number a webhook or an idempotency key may still name stays. */
async function purgeTombstone(pool: Pool, keptMs: number): Promise<number> {
  const { rows } = await pool.query<{ id: string }>(
    `select r.id from runs r
     where r.deleted_at is not null and r.deleted_at < ${before('$1')} and r.ended_at is not null
       and r.webhook_state not in ('waiting', 'pending')
       and not exists (select from idempotency_keys k where k.run_id = r.id)
     order by r.deleted_at limit 1`,
    [keptMs],
  );
  if (!rows[0]) return 0;
  return (await removeFrames(pool, rows[0].id)) || removeRun(pool, rows[0].id);
}

/** All that names a run, before the run. */
const runTables = [
  'session_transcripts',
  'session_messages',
  'sessions',
  'interactions',
  'input_files',
  'run_files',
  'webhook_attempts',
  'run_configs',
  'run_logs',
];

function removeRun(pool: Pool, runId: string): Promise<number> {
  return inTransaction(pool, async (db) => {
    for (const table of runTables)
      await db.query(`delete from ${table} where run_id = $1`, [runId]);
    const { rowCount } = await db.query('delete from runs where id = $1', [runId]);
    return rowCount ?? 0;
  });
}

/** Whoever stores or finds a blob makes it young again, so there is time to name it. */
export const isCollectable = `
  b.created_at < ${before('$1')}
  and not exists (select from run_files f where f.sha256 = b.sha256)
  and not exists (select from input_files f where f.sha256 = b.sha256)
  and not exists (select from message_files f where f.sha256 = b.sha256)
  and not exists (select from flow_files f where f.sha256 = b.sha256)
  and not exists (select from session_transcripts f where f.sha256 = b.sha256)`;

async function unnamedBlobs(db: Db, keptMs: number, after: string): Promise<BlobPage | null> {
  const { rows } = await db.query<{ sha256: string; unnamed: boolean }>(
    `select encode(b.sha256, 'hex') as sha256, ${isCollectable} as unnamed
     from (select * from blobs where sha256 > $2 order by sha256 limit $3) b
     order by b.sha256`,
    [keptMs, Buffer.from(after, 'hex'), limits.retentionBatchRows],
  );
  const last = rows.at(-1)?.sha256;
  if (last === undefined) return null;
  return { unreferenced: rows.filter((row) => row.unnamed).map((row) => row.sha256), last };
}

async function removeBlob(db: Db, keptMs: number, sha256: string): Promise<boolean> {
  const text = `delete from blobs b where b.sha256 = $2 and ${isCollectable}`;
  const { rowCount } = await db.query(text, [keptMs, Buffer.from(sha256, 'hex')]);
  return rowCount === 1;
}
