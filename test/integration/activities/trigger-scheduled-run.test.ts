import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { triggerScheduledRun } from '../../../activities/trigger-scheduled-run.ts';
import { createFlowStore } from '../../../systems/postgres/accounts/flow-store.ts';
import { createAdmission } from '../../../systems/postgres/admission/admission.ts';
import { createRunStore } from '../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../support/database.ts';
import { createScene } from '../../support/records.ts';
import { useDatabase } from '../../support/use-database.ts';

const database = useDatabase();

const schedule = { cron: '0 9 * * *', timezone: 'UTC' };

function world() {
  const { pool } = database;
  const started: string[] = [];
  const flows = createFlowStore(pool, testSealer);
  const runs = createRunStore(pool, testSealer);
  const deps = {
    flows,
    runs,
    admission: createAdmission(pool, testSealer),
    temporal: {
      startRun: async ({ runId }: { runId: string }) => {
        started.push(runId);
        return 'started' as const;
      },
    },
    runTimeoutMs: 90_000,
    logger: pino({ enabled: false }),
  };
  return { deps, flows, runs, started };
}

const newScene = (project = {}) =>
  createScene(database.pool, testSealer, { project, flow: { prompt: 'As planned', schedule } });

test('a moment of the schedule is one run, however often it is tried', async () => {
  const { deps, runs, started } = world();
  const { flow } = await newScene({ monthlyRunQuota: 0 });
  const moment = { flowId: flow.flowId, runId: randomUUID() };
  for (let count = 0; count < 2; count += 1) {
    expect(await triggerScheduledRun(deps, moment)).toEqual({ outcome: 'admitted' });
  }
  expect(new Set(started)).toEqual(new Set([moment.runId]));
  expect(await runs.find(moment.runId)).toMatchObject({
    ...{ triggerType: 'schedule', prompt: 'As planned', timeoutSeconds: 90 },
    createdBy: { keyName: 'schedule', createdBy: 'schedule' },
    workflowStartedAt: expect.any(Date),
  });
});

test('a run whose workflow could not be started is left to the reconciler', async () => {
  const { deps, runs } = world();
  const { flow } = await newScene();
  const moment = { flowId: flow.flowId, runId: randomUUID() };
  const away = { ...deps, temporal: { startRun: () => Promise.reject(new Error('away')) } };
  expect(await triggerScheduledRun(away, moment)).toEqual({ outcome: 'admitted' });
  expect(await runs.find(moment.runId)).toMatchObject({ workflowStartedAt: null });
});

test('a project at its cap misses the moment, and no run comes of it', async () => {
  const { deps, runs } = world();
  const { flow } = await newScene({ maxConcurrentRuns: 0 });
  const moment = { flowId: flow.flowId, runId: randomUUID() };
  expect(await triggerScheduledRun(deps, moment)).toEqual({ outcome: 'CONCURRENT_LIMIT' });
  expect(await runs.find(moment.runId)).toBeNull();
});

test('a moment that a restoration may have lost is tried again until that is known', async () => {
  const { deps, runs } = world();
  const { flow } = await newScene();
  const moment = { flowId: flow.flowId, runId: randomUUID() };
  await database.pool.query('select record_restore(db_clock())');
  await expect(triggerScheduledRun(deps, moment)).rejects.toThrow('not settled');
  expect(await runs.find(moment.runId)).toBeNull();
  await database.pool.query('update restores set reconciled_at = db_clock()');
  expect(await triggerScheduledRun(deps, moment)).toEqual({ outcome: 'admitted' });
});

test('a schedule that was taken away meanwhile starts nothing', async () => {
  const { deps, flows } = world();
  const { flow } = await newScene();
  await flows.update(flow.flowId, { schedule: null });
  for (const flowId of [flow.flowId, randomUUID()]) {
    expect(await triggerScheduledRun(deps, { flowId, runId: randomUUID() })).toEqual({
      outcome: 'unscheduled',
    });
  }
});
