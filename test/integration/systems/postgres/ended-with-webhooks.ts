import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import type { Scenario } from '../../../support/database-records.ts';

/** Runs that have ended one after the other, with webhooks that nothing delivers. Returns ids. */
export async function endedWithWebhooks(
  pool: Pool,
  { flow, projectId }: Pick<Scenario, 'flow' | 'projectId'>,
  count: number,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `with made as (
       insert into runs (
         id, flow_id, project_id, trigger_type, prompt, key_name, key_created_by, timeout_seconds,
         status, workflow_id, created_at, ended_at, end_cause, callback_url, webhook_state,
         webhook_body, webhook_delivery_id
       )
       select gen_random_uuid(), $1, $2, 'api', '', 'ci', 'ana', 60, 'sleep',
              'run/' || gen_random_uuid(), db_clock() - interval '1 day',
              db_clock() - interval '1 hour' + n * interval '100 ms',
              'completed', 'https://receiver.example/', 'pending', '{}', gen_random_uuid()
       from generate_series(1, $3::integer) n
       returning id, ended_at
     ), logs as (insert into run_logs (run_id) select id from made)
     select id from made order by ended_at`,
    [flow.flowId, projectId, count],
  );
  return rows.map(({ id }) => id);
}
