import type { Service } from './service.ts';

/** The id of the workflow, as an operator searches it in Temporal's tools. */
export async function workflowIdOf({ database }: Service, runId: string): Promise<string> {
  const text = 'select workflow_id from runs where id = $1';
  const { rows } = await database.pool.query<{ workflow_id: string }>(text, [runId]);
  return rows[0]?.workflow_id ?? '';
}
