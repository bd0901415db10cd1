import { limits } from '../../../core/limits.ts';
import type { Db } from '../client/pool.ts';
import { before } from '../maintenance/before-now.ts';

/** Events with their attempts, the oldest first. A pending one is no longer sent. */
export async function purgeEvents(db: Db, retentionMs: number): Promise<number> {
  const { rows } = await db.query<{ deleted: number }>(
    `with deleted as (
       delete from webhook_events where id in (
         select id from webhook_events where created_at < ${before('$1')}
         order by created_at limit $2
       )
       returning project_id, octet_length(body) as bytes
     ),
     counted as (
       insert into stored_bytes_changes (project_id, kind, bytes)
       select project_id, 'messages', -sum(bytes) from deleted group by project_id
     )
     select count(*) as deleted from deleted`,
    [retentionMs, limits.retention.batchRows],
  );
  return rows[0]?.deleted ?? 0;
}
