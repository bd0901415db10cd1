import { limits } from '../../../core/limits.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inTransaction } from '../client/transaction.ts';
import { before } from './before-now.ts';
import { purgeUnlocked, type Unpurged } from './purge-together.ts';

interface FilePurge {
  of: 'run' | 'session';
  retentionMs: number;
  unpurged: Unpurged;
}

/**
 * Deletes the files of the runs or sessions that ended first, with their transcripts: of up to
 * `batchRuns` while these have at most `batchFiles` together, and always of one. Returns how many
 * runs were purged, and 0 if none is due.
 */
export async function purgeFilesOfOldest(
  pool: Pool,
  { of, retentionMs, unpurged }: FilePurge,
): Promise<number> {
  const kind = of === 'run' ? 'session_id is null' : 'session_id is not null';
  const { rows } = await pool.query<{ runIds: string[] }>(
    `select array_agg(id) as "runIds" from (
       select id, project_id, row_number() over by_end as n, sum(files) over by_end as files
       from (
         select id, project_id, ended_at, (
           select count(*) from (
             select from run_files f where f.run_id = r.id
             union all select from run_links l where l.run_id = r.id
             union all select from input_files i where i.run_id = r.id
             limit $3
           ) counted
         ) as files
         from runs r
         where ended_at is not null and files_purged_at is null and ${kind}
           and ended_at < ${before('$1')} and id <> all($4::uuid[])
         order by ended_at limit $2
       ) due
       window by_end as (order by ended_at, id)
     ) counted
     where n = 1 or files <= $3
     group by project_id`,
    [retentionMs, limits.retention.batchRuns, limits.retention.batchFiles, [...unpurged.keys()]],
  );
  let purged = 0;
  for (const { runIds } of rows)
    purged += await purgeUnlocked(runIds, unpurged, (due) => removeFiles(pool, due));
  return purged;
}

/**
 * The runs are of one project, because the transaction has several statements, and no other project
 * may wait for it. A host may still be storing the files, and a retry may be copying the input
 * files. Both lock the run's row too, so a locked run is skipped until a later pass. Files that a
 * host has stored before are removed; afterwards hosts store none, and retries find none.
 */
function removeFiles(pool: Pool, projectRunIds: string[]): Promise<number> {
  return inTransaction(pool, async (db) => {
    const { rows } = await db.query<{ id: string }>(
      `select id from runs where id = any($1::uuid[]) and files_purged_at is null
       order by id for no key update skip locked`,
      [projectRunIds],
    );
    if (rows.length === 0) return 0;
    const runIds = rows.map(({ id }) => id);
    await db.query(
      `update runs r set files_purged_at = db_clock(), has_purged_inputs = exists (
         select from input_files i where i.run_id = r.id and i.scope = 'run'
       )
       where id = any($1::uuid[])`,
      [runIds],
    );
    await db.query(
      `with files as (delete from run_files where run_id = any($1::uuid[])),
       links as (delete from run_links where run_id = any($1::uuid[])),
       folders as (delete from run_folders where run_id = any($1::uuid[])),
       inputs as (delete from input_files where run_id = any($1::uuid[])),
       of_messages as (
         delete from message_files f using session_messages m
         where m.run_id = any($1::uuid[]) and f.message_id = m.id
       )
       delete from session_transcripts where run_id = any($1::uuid[])`,
      [runIds],
    );
    return runIds.length;
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
 * Replaced versions of flow files that no version of the flow keeps and no active run started from.
 * A change of the flow decides what its versions keep. A run that is admitted meanwhile
 * starts from the newest version, so no lock is needed. Skips versions that a change of their flow
 * is deleting: the batch has files of several projects.
 */
export async function purgeFlowFiles(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `delete from flow_files where (flow_id, path, valid_from) in (
       select replaced.flow_id, replaced.path, replaced.valid_from
       from flows f
       join flow_files replaced
         on replaced.flow_id = f.id and replaced.valid_to <= f.files_kept_from
       where f.files_kept_from > 0 and not exists (
         select from runs r
         where r.flow_id = replaced.flow_id and r.ended_at is null
           and r.files_version < replaced.valid_to
       )
       limit $1
       for update of replaced skip locked
     )`,
    [limits.retention.batchRows],
  );
  return rowCount ?? 0;
}
