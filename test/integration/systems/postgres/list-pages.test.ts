// A page of a list must not read all runs of a project, however rare those are that it selects.

import { beforeAll, expect, test } from 'vitest';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createSessionStore } from '../../../../systems/postgres/sessions/session-store.ts';
import { testSealer } from '../../../support/database.ts';
import { countingPool } from './counting-pool.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const runCount = 20_000;
const sessionCount = 10_000;
/** A scan of the project's runs reads more than a thousand. */
const blocksMax = 250;

/** Every hundredth session is open. One plain run has failed, another one is of a schedule. */
beforeAll(async () => {
  await database.pool.query(
    `with made as (
       insert into runs (
         id, flow_id, project_id, session_id, trigger_type, prompt, key_name, key_created_by,
         timeout_seconds, status, agent_status, workflow_id, created_at, ended_at, end_cause
       )
       select gen_random_uuid(), $1, $2, case when n <= $4 then 's' || n end,
              case when n = 15000 then 'schedule' else 'api' end, '', 'ci', 'ana', 60, 'sleep',
              case when n = 15001 then 'error' else 'idle' end, 'run/' || n,
              now() - (n || ' seconds')::interval,
              case when n > $4 or n % 100 > 0 then now() end,
              case when n > $4 or n % 100 > 0 then 'completed' end
       from generate_series(1, $3::integer) n
       returning id, flow_id, session_id
     ), logs as (insert into run_logs (run_id) select id from made)
     insert into sessions (run_id, flow_id, session_id)
     select id, flow_id, session_id from made where session_id is not null`,
    [scenario.flow.flowId, scenario.projectId, runCount, sessionCount],
  );
  await database.pool.query('vacuum analyze runs, run_logs, sessions');
});

test.each([
  ['a rare agent status', { agentStatus: 'error' }, 1],
  ['an agent status that no run has', { agentStatus: 'waiting' }, 0],
  ['a common agent status', { agentStatus: 'idle' }, 20],
  ['a rare trigger type', { triggerType: 'schedule' }, 1],
  ['a common trigger type', { triggerType: 'api' }, 20],
] as const)('runs with %s are read without the others', async (_what, filter, found) => {
  const { counted, pool } = countingPool(database.pool);
  const query = { filter, limit: 20, maxBytes: 1_000_000 };
  const { runs } = await createRunStore(pool, testSealer).list(scenario.projectId, query);
  expect(runs).toHaveLength(found);
  expect(counted.blocks).toBeLessThan(blocksMax);
});

test.each([
  ['of a flow', {}],
  ['that are open', { ended: false }],
  ['that have ended', { ended: true }],
])('sessions %s are read without the others', async (_what, filter) => {
  const { counted, pool } = countingPool(database.pool);
  const query = { flowId: scenario.flow.flowId, limit: 20, maxBytes: 1_000_000, ...filter };
  const { sessions } = await createSessionStore(pool, testSealer).list(query);
  expect(sessions).toHaveLength(20);
  expect(counted.blocks).toBeLessThan(blocksMax);
});

test('running sessions are read without those that have ended', async () => {
  const { counted, pool } = countingPool(database.pool);
  const { flowId } = scenario.flow;
  const query = { flowId, limit: 20, maxBytes: 1_000_000, status: 'running' } as const;
  const { sessions } = await createSessionStore(pool, testSealer).list(query);
  expect(sessions).toEqual([]);
  expect(counted.blocks).toBeLessThan(blocksMax + sessionCount / 100);
});
