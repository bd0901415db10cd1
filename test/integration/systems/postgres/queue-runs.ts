import type { Flow } from '../../../../core/flows/flow.ts';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';

/** Runs of a flow that have waited for a slot for an hour. */
export async function queueRuns(
  pool: Pool,
  { flowId, projectId }: Flow,
  count: number,
): Promise<void> {
  await pool.query(
    `insert into runs (
       id, flow_id, project_id, trigger_type, prompt, key_name, key_created_by, timeout_seconds,
       workflow_id, waiting_since
     )
     select gen_random_uuid(), $1, $2, 'api', '', 'ci', 'ana', 60, gen_random_uuid(),
       db_clock() - interval '1 hour' + n * interval '1 ms'
     from generate_series(1, $3::integer) n`,
    [flowId, projectId, count],
  );
}
