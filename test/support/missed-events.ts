import { webhookBodies } from '../../api/openapi/webhook-bodies.ts';
import type { Pool } from '../../systems/postgres/client/pool.ts';

/** The bodies of the events `schedule.missed`, oldest first. Throws if one does not match. */
export async function missedEvents(pool: Pool, projectId: string): Promise<unknown[]> {
  const { rows } = await pool.query<{ body: unknown }>(
    `select body::jsonb as body from webhook_events
     where project_id = $1 and event = 'schedule.missed' order by created_at`,
    [projectId],
  );
  return rows.map(({ body }) => webhookBodies['schedule.missed'].parse(body));
}
