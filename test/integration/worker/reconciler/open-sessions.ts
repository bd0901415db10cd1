import type { TestDatabase } from '../../../support/database.ts';
import type { Scenario } from '../../../support/database-records.ts';

/** Inserts open sessions that are asleep. Returns them in the order of their IDs. */
export async function openSessions(
  { pool }: Pick<TestDatabase, 'pool'>,
  { flow, projectId }: Scenario,
  count: number,
): Promise<{ runId: string; workflowId: string }[]> {
  const { rows } = await pool.query<{ runId: string; workflowId: string }>(
    `with opened as (
       insert into runs (id, flow_id, project_id, session_id, trigger_type, prompt, key_name,
         key_created_by, timeout_seconds, workflow_id, workflow_started_at, started_at, status)
       select gen_random_uuid(), $1, $2, 's-' || n, 'api', '', 'ci', 'ana', 60, 'session/' || n,
         db_clock(), db_clock(), 'sleep'
       from generate_series(1, $3::integer) n
       returning id, session_id, workflow_id
     ),
     logs as (insert into run_logs (run_id) select id from opened),
     bound as (
       insert into sessions (run_id, flow_id, session_id) select id, $1, session_id from opened
     )
     select id as "runId", workflow_id as "workflowId" from opened order by id`,
    [flow.flowId, projectId, count],
  );
  return rows;
}
