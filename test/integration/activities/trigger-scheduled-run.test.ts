import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { triggerScheduledRun } from '../../../activities/trigger-scheduled-run.ts';
import { createPostgresDisk } from '../../../api/postgres-disk.ts';
import { createFlowStore } from '../../../systems/postgres/accounts/flow-store.ts';
import { createAdmission } from '../../../systems/postgres/admission/admission.ts';
import { createRunStore } from '../../../systems/postgres/runs/run-store.ts';
import { createDiskNotice } from '../../../systems/redis/disk-notice.ts';
import { redisKeys } from '../../../systems/redis/keys.ts';
import { testSealer } from '../../support/database.ts';
import { createScenario } from '../../support/database-records.ts';
import { openRedis, type RedisFixture } from '../../support/redis-fixture.ts';
import { useDatabase } from '../../support/use-database.ts';

const database = useDatabase();

let ofRedis: RedisFixture;
beforeAll(async () => {
  ofRedis = await openRedis();
});
afterAll(() => ofRedis.close());
const diskNotice = (redis = ofRedis.redis) => createDiskNotice(redis, ofRedis);

const schedule = { cron: '0 9 * * *', timezone: 'UTC' };

function fixture() {
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
    diskNotice: diskNotice(),
    runTimeoutMs: 90_000,
    logger: pino({ enabled: false }),
  };
  return { deps, flows, runs, started };
}

const newScenario = (project = {}) =>
  createScenario(database.pool, testSealer, { project, flow: { prompt: 'As planned', schedule } });

test('admits one run per tick, however often it is called', async () => {
  const { deps, runs, started } = fixture();
  const { flow } = await newScenario({ monthlyRunQuota: 0 });
  const tick = { flowId: flow.flowId, runId: randomUUID() };
  for (let count = 0; count < 2; count += 1) {
    expect(await triggerScheduledRun(deps, tick)).toEqual({ outcome: 'admitted' });
  }
  expect(new Set(started)).toEqual(new Set([tick.runId]));
  expect(await runs.find(tick.runId)).toMatchObject({
    ...{ triggerType: 'schedule', prompt: 'As planned', timeoutSeconds: 90 },
    createdBy: { keyName: 'schedule', createdBy: 'schedule' },
    workflowStartedAt: expect.any(Date),
  });
});

test('leaves a workflow that cannot be started to the reconciler', async () => {
  const { deps, runs } = fixture();
  const { flow } = await newScenario();
  const tick = { flowId: flow.flowId, runId: randomUUID() };
  const unreachable = { ...deps, temporal: { startRun: () => Promise.reject(new Error('away')) } };
  expect(await triggerScheduledRun(unreachable, tick)).toEqual({ outcome: 'admitted' });
  expect(await runs.find(tick.runId)).toMatchObject({ workflowStartedAt: null });
});

test('skips the tick of a project at its concurrency limit', async () => {
  const { deps, runs } = fixture();
  const { flow } = await newScenario({ maxConcurrentRuns: 0 });
  const tick = { flowId: flow.flowId, runId: randomUUID() };
  expect(await triggerScheduledRun(deps, tick)).toEqual({ outcome: 'CONCURRENT_LIMIT' });
  expect(await runs.find(tick.runId)).toBeNull();
});

test('throws while a database restore is not reconciled', async () => {
  const { deps, runs } = fixture();
  const { flow } = await newScenario();
  const tick = { flowId: flow.flowId, runId: randomUUID() };
  await database.pool.query('select record_restore(db_clock())');
  await expect(triggerScheduledRun(deps, tick)).rejects.toThrow('not reconciled');
  expect(await runs.find(tick.runId)).toBeNull();
  await database.pool.query('update restores set reconciled_at = db_clock()');
  expect(await triggerScheduledRun(deps, tick)).toEqual({ outcome: 'admitted' });
});

test('throws while an API finds the disk of Postgres short, and stores nothing', async () => {
  const { deps, runs } = fixture();
  const { flow } = await newScenario();
  const tick = { flowId: flow.flowId, runId: randomUUID() };
  const { redis } = ofRedis;
  const { postgresDiskShort } = redisKeys(ofRedis.instance);
  const logger = pino({ enabled: false });
  const readDisk = (reserveBytes: number) =>
    createPostgresDisk({ dir: '/tmp', reserveBytes, logger, onShort: diskNotice().renew }).read();
  await readDisk(1);
  expect(await redis.exists(postgresDiskShort)).toBe(0);
  await readDisk(Number.MAX_SAFE_INTEGER);
  expect(await redis.persist(postgresDiskShort)).toBe(1); // It expires, and not during this test.
  await expect(triggerScheduledRun(deps, tick)).rejects.toThrow('almost full');
  expect(await runs.find(tick.runId)).toBeNull();
  await redis.del(postgresDiskShort);
  expect(await triggerScheduledRun(deps, tick)).toEqual({ outcome: 'admitted' });
});

test('admits a run while Redis is down', async () => {
  const { deps } = fixture();
  const { flow } = await newScenario();
  const tick = { flowId: flow.flowId, runId: randomUUID() };
  const lost = await ofRedis.connect();
  lost.disconnect();
  diskNotice(lost).renew();
  const unknown = { ...deps, diskNotice: diskNotice(lost) };
  expect(await triggerScheduledRun(unknown, tick)).toEqual({ outcome: 'admitted' });
});

test('starts nothing after the schedule was removed', async () => {
  const { deps, flows } = fixture();
  const { flow } = await newScenario();
  await flows.change(flow.flowId, () => ({ schedule: null }));
  for (const flowId of [flow.flowId, randomUUID()]) {
    expect(await triggerScheduledRun(deps, { flowId, runId: randomUUID() })).toEqual({
      outcome: 'unscheduled',
    });
  }
});
