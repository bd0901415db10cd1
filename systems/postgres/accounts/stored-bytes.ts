import type { Db } from '../client/pool.ts';
import type { BlobOwner } from '../files/put-blob.ts';

/** What a project stores in Postgres. */
interface StoredBytes {
  files: number;
  transcripts: number;
  logs: number;
  /**
   * Prompts, results and webhook bodies of runs, events for endpoints, messages with their replies,
   * and questions with their answers.
   */
  messages: number;
}

export async function readStoredBytes(db: Db, projectId: string): Promise<StoredBytes> {
  const { rows } = await db.query<{ kind: keyof StoredBytes; bytes: number }>(
    `select kind, sum(bytes)::bigint as bytes from (
       select project_id, kind, bytes from stored_bytes
       union all
       select project_id, kind, bytes from stored_bytes_changes
     ) s
     where project_id = $1 group by kind`,
    [projectId],
  );
  const stored = Object.fromEntries(rows.map(({ kind, bytes }) => [kind, bytes]));
  return { files: 0, transcripts: 0, logs: 0, messages: 0, ...stored };
}

export interface ProjectStorage {
  projectId: string;
  stored: number;
  quota: number;
}

/** Projects that use at least this part of their storage quota, the fullest first. */
export async function listNearQuota(db: Db, part: number): Promise<ProjectStorage[]> {
  const { rows } = await db.query<ProjectStorage>(
    `select p.id as "projectId", s.stored, p.storage_quota_bytes as quota
     from projects p cross join lateral (
       select coalesce(sum(bytes), 0)::bigint as stored from (
         select bytes from stored_bytes b where b.project_id = p.id
         union all
         select bytes from stored_bytes_changes b where b.project_id = p.id
       ) c
     ) s
     where s.stored >= p.storage_quota_bytes * $1::double precision
     order by s.stored / greatest(p.storage_quota_bytes, 1)::double precision desc, p.id`,
    [part],
  );
  return rows;
}

export interface UsedUpQuota {
  limit: number;
  current: number;
}

/** Null if the storage quota of the project is not used up. */
export async function findUsedUpQuota(db: Db, of: BlobOwner['of']): Promise<UsedUpQuota | null> {
  const projectId = 'projectId' in of ? of.projectId : null;
  const runId = 'runId' in of ? of.runId : null;
  const { rows } = await db.query<UsedUpQuota>(
    `select "limit", current from storage_over_quota(
       coalesce($1, (select r.project_id from runs r where r.id = $2::uuid))
     )`,
    [projectId, runId],
  );
  return rows[0] ?? null;
}
