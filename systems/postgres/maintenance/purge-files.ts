import { limits } from '../../../core/limits.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { before } from './before-now.ts';

/**
 * Deletes the files of the run or session that ended first, with its transcripts. Returns 1 if a
 * run was purged, and 0 if none is due.
 */
export async function purgeFilesOfOldest(
  pool: Pool,
  retentionMs: number,
  of: 'run' | 'session',
): Promise<number> {
  const kind = of === 'run' ? 'session_id is null' : 'session_id is not null';
  const { rows } = await pool.query<{ id: string }>(
    `select id from runs
     where ended_at is not null and files_purged_at is null and ${kind}
       and ended_at < ${before('$1')}
     order by ended_at limit 1`,
    [retentionMs],
  );
  return rows[0] ? removeFiles(pool, rows[0].id) : 0;
}

/**
 * A host may still be storing the files, and a retry may be copying the input files. Both lock the
 * run's row too. Files that a host has stored before are removed; afterwards hosts store none, and
 * retries find none.
 */
function removeFiles(pool: Pool, runId: string): Promise<number> {
  return inTransaction(pool, async (db) => {
    const { rowCount } = await db.query(
      `update runs set files_purged_at = db_clock(), has_purged_inputs = exists (
         select from input_files i where i.run_id = $1 and i.scope = 'run'
       )
       where id = $1 and files_purged_at is null`,
      [runId],
    );
    await db.query(
      `with files as (delete from run_files where run_id = $1),
       links as (delete from run_links where run_id = $1),
       folders as (delete from run_folders where run_id = $1),
       inputs as (delete from input_files where run_id = $1),
       of_messages as (
         delete from message_files f using session_messages m
         where m.run_id = $1 and f.message_id = m.id
       )
       delete from session_transcripts where run_id = $1`,
      [runId],
    );
    return rowCount ?? 0;
  });
}

/**
 * The files of messages whose turn has ended. Its sandbox has received them as input files of the
 * run, and an ended message is not delivered again.
 */
export async function purgeMessageFiles(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `delete from message_files where (message_id, path) in (
       select f.message_id, f.path
       from message_files f join session_messages m on m.id = f.message_id
       where m.ended_at is not null limit $1
     )`,
    [limits.retention.batchRows],
  );
  return rowCount ?? 0;
}

/**
 * Replaced versions of flow files that no active run started from. A run that is admitted meanwhile
 * starts from the newest version, so no lock is needed.
 */
export async function purgeFlowFiles(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `delete from flow_files where (flow_id, path, valid_from) in (
       select replaced.flow_id, replaced.path, replaced.valid_from
       from flow_files replaced
       where replaced.valid_to is not null and not exists (
         select from runs r
         where r.flow_id = replaced.flow_id and r.ended_at is null
           and r.files_version < replaced.valid_to
       )
       limit $1
     )`,
    [limits.retention.batchRows],
  );
  return rowCount ?? 0;
}
