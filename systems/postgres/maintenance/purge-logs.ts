import { limits } from '../../../core/limits.ts';
import type { Db } from '../client/pool.ts';
import { before } from './before-now.ts';
import { purgeUnlocked, type Unpurged } from './purge-together.ts';

/**
 * Part of the logs of the runs that ended first, and of their messages; with the last part also
 * their questions.
 */
export async function purgeLogs(db: Db, retentionMs: number, unpurged: Unpurged): Promise<number> {
  const { rows } = await db.query<{ id: string }>(
    `select id from runs
     where ended_at is not null and log_purged_at is null and ended_at < ${before('$1')}
       and id <> all($3::uuid[])
     order by ended_at limit $2`,
    [retentionMs, limits.retention.batchRuns, [...unpurged.keys()]],
  );
  const ids = rows.map(({ id }) => id);
  return purgeUnlocked(
    ids,
    unpurged,
    async (due) =>
      (await removeFrames(db, due)) || (await removeMessages(db, due)) || markPurged(db, due),
  );
}

/** Frames, or rows of packed ones once no others are left. */
export const removeFrames = async (db: Db, runIds: string[]): Promise<number> =>
  (await removeUnpacked(db, runIds)) || removePacked(db, runIds);

/** A CTE that subtracts the bytes of `deleted` rows. */
const logBytesCounted = `
  counted as (
    insert into stored_bytes_changes (project_id, kind, bytes)
    select r.project_id, 'logs', -sum(d.bytes)
    from deleted d join runs r on r.id = d.run_id group by r.project_id
  )`;

async function removePacked(db: Db, runIds: string[]): Promise<number> {
  const { rows } = await db.query<{ deleted: number }>(
    `with deleted as (
       delete from packed_frames where (run_id, first_seq) in (
         select run_id, first_seq from packed_frames where run_id = any($1::uuid[]) limit $2
       )
       returning run_id, octet_length(data) as bytes
     ),
     ${logBytesCounted}
     select count(*) as deleted from deleted`,
    [runIds, limits.retention.batchRows],
  );
  return rows[0]?.deleted ?? 0;
}

async function removeUnpacked(db: Db, runIds: string[]): Promise<number> {
  const { rows } = await db.query<{ deleted: number }>(
    `with deleted as (
       delete from frames where ctid = any(array(
         select f.ctid from unnest($1::uuid[]) r(id) cross join lateral (
           select ctid from frames where run_id = r.id order by seq limit $2
         ) f limit $2
       ))
       returning run_id, octet_length(data) as bytes
     ),
     ${logBytesCounted}
     select count(*) as deleted from deleted`,
    [runIds, limits.retention.batchRows],
  );
  return rows[0]?.deleted ?? 0;
}

/** The messages of ended sessions, with their replies. */
export async function removeMessages(db: Db, runIds: string[]): Promise<number> {
  const { rows } = await db.query<{ deleted: number }>(
    `with deleted as (
       delete from session_messages where id in (
         select id from session_messages where run_id = any($1::uuid[]) limit $2
       )
       returning run_id, octet_length(text) + coalesce(octet_length(reply), 0) as bytes
     ),
     counted as (
       insert into stored_bytes_changes (project_id, kind, bytes)
       select r.project_id, 'messages', -sum(d.bytes)
       from deleted d join runs r on r.id = d.run_id group by r.project_id
     )
     select count(*) as deleted from deleted`,
    [runIds, limits.retention.batchRows],
  );
  return rows[0]?.deleted ?? 0;
}

/** CTEs that delete the questions of runs, with their answers. */
export const removeQuestions = (runIds: string): string => `
  questions as (
    delete from interactions where run_id in (${runIds})
    returning run_id, octet_length(input) + coalesce(octet_length(answers), 0) as bytes
  ),
  questions_counted as (
    insert into stored_bytes_changes (project_id, kind, bytes)
    select r.project_id, 'messages', -sum(q.bytes)
    from questions q join runs r on r.id = q.run_id group by r.project_id
  )`;

/**
 * Not while another worker, whose lease has expired, is still deleting the same rows. Skips locked
 * runs, because the batch has runs of several projects. A later call marks them.
 */
async function markPurged(db: Db, runIds: string[]): Promise<number> {
  const { rowCount } = await db.query(
    `with empty as (
       select id from runs r where id = any($1::uuid[]) and log_purged_at is null
         and not exists (select from frames f where f.run_id = r.id)
         and not exists (select from packed_frames p where p.run_id = r.id)
         and not exists (select from session_messages m where m.run_id = r.id)
       for no key update of r skip locked
     ),
     ${removeQuestions('select id from empty')}
     update runs set log_purged_at = db_clock() where id in (select id from empty)`,
    [runIds],
  );
  return rowCount ?? 0;
}
