// Admission locks the project, so what it reads must not grow with the project's sleeping sessions.

import { beforeAll, expect, test } from 'vitest';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const asleep = 5_000;

beforeAll(async () => {
  await database.pool.query(
    `insert into runs (
       id, flow_id, project_id, session_id, trigger_type, prompt, key_name, key_created_by,
       timeout_seconds, status, workflow_id
     )
     select gen_random_uuid(), $1, $2, n, 'api', '', 'ci', 'ana', 60, 'sleep', 'session/' || n
     from generate_series(1, $3) n`,
    [scenario.flow.flowId, scenario.projectId, asleep],
  );
  await database.pool.query('analyze runs');
});

test('counting the occupied slots of a project reads no sleeping session', async () => {
  const run = await scenario.run();
  const { rows } = await database.pool.query(
    `explain (analyze, format json)
     select count(*) from runs r where r.project_id = $1 and occupies_slot(r)`,
    [run.projectId],
  );
  const plan = JSON.stringify(rows[0]);
  expect(plan).toContain('runs_occupying_slots');
  expect(plan).not.toMatch(/"Rows Removed by (Filter|Index Recheck)":[1-9]/);
});
