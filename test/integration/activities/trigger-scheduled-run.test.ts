import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  missScheduledRun,
  triggerScheduledRun,
} from '../../../activities/trigger-scheduled-run.ts';
import { createPostgresDisk } from '../../../api/postgres-disk.ts';
import type { MissedStarts } from '../../../core/flows/missed-starts.ts';
import { scheduleLimits } from '../../../core/flows/schedule-limits.ts';
import { createFlowStore } from '../../../systems/postgres/accounts/flow-store.ts';
import { createProjectStore } from '../../../systems/postgres/accounts/project-store.ts';
import { createAdmission } from '../../../systems/postgres/admission/admission.ts';
import { createScheduleStore } from '../../../systems/postgres/maintenance/schedule-store.ts';
import { createRunStore } from '../../../systems/postgres/runs/run-store.ts';
import { createDiskNotice } from '../../../systems/redis/disk-notice.ts';
import { redisKeys } from '../../../systems/redis/keys.ts';
import { testSealer } from '../../support/database.ts';
import { createScenario } from '../../support/database-records.ts';
import { addEndpoint } from '../../support/endpoints.ts';
import { missedEvents } from '../../support/missed-events.ts';
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
  const missed: MissedStarts[] = [];
  const flows = createFlowStore(pool, testSealer);
  const runs = createRunStore(pool, testSealer);
  const deps = {
    flows,
    runs,
    admission: createAdmission(pool, testSealer),
    schedules: createScheduleStore(pool),
    onStartsMissed: (starts: MissedStarts) => void missed.push(starts),
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
  return { deps, flows, runs, started, missed };
}

const scheduledAt = '2026-11-27T09:00:00.000Z';
const startOf = (flowId: string) => ({ flowId, runId: randomUUID(), scheduledAt });

const newScenario = (project = {}) =>
  createScenario(database.pool, testSealer, { project, flow: { prompt: 'As planned', schedule } });

test('admits one run per tick, however often it is called', async () => {
  const { deps, runs, started } = fixture();
  const { flow } = await newScenario({ monthlyRunQuota: 0 });
  const tick = startOf(flow.flowId);
  for (let count = 0; count < 2; count += 1) {
    expect(await triggerScheduledRun(deps, tick)).toEqual({ outcome: 'admitted' });
  }
  expect(new Set(started)).toEqual(new Set([tick.runId]));
  expect(await runs.find(tick.runId)).toMatchObject({
    ...{ triggerType: 'schedule', prompt: 'As planned', timeoutSeconds: 90 },
    createdBy: { keyName: 'schedule', createdBy: 'schedule' },
    workflowStartedAt: expect.any(Date),
  });
  const { runId } = tick;
  expect(await deps.schedules.listStarts(flow.flowId)).toEqual([
    { runId, scheduledAt: new Date(scheduledAt), decidedAt: expect.any(Date), rejectedCode: null },
  ]);
});

test('leaves a workflow that cannot be started to the reconciler', async () => {
  const { deps, runs } = fixture();
  const { flow } = await newScenario();
  const tick = startOf(flow.flowId);
  const unreachable = { ...deps, temporal: { startRun: () => Promise.reject(new Error('away')) } };
  expect(await triggerScheduledRun(unreachable, tick)).toEqual({ outcome: 'admitted' });
  expect(await runs.find(tick.runId)).toMatchObject({ workflowStartedAt: null });
});

test('reports a start that is rejected at the concurrency limit as missed, once', async () => {
  const { deps, runs, missed } = fixture();
  const { flow } = await newScenario({ maxConcurrentRuns: 0 });
  const { flowId, projectId } = flow;
  const eventTypes = ['schedule.missed' as const];
  await addEndpoint(database.pool, { projectId, url: 'https://hooks.example/', eventTypes });
  const start = startOf(flowId);
  const outcome = 'CONCURRENT_LIMIT';
  const calls = Array.from({ length: 10 }, () => triggerScheduledRun(deps, start));
  expect(new Set((await Promise.all(calls)).map((call) => call.outcome))).toEqual(
    new Set([outcome]),
  );
  expect(await triggerScheduledRun(deps, start)).toEqual({ outcome });
  expect(await runs.find(start.runId)).toBeNull();
  const reason = outcome;
  const at = new Date(scheduledAt);
  expect(missed).toEqual([{ flowId, projectId, reason, count: 1, scheduledAt: at }]);
  expect(await deps.schedules.listStarts(flowId)).toMatchObject([{ rejectedCode: reason }]);
  const body = { projectId, flowId, reason, count: 1, scheduledAt, occurredAt: expect.any(String) };
  expect(await missedEvents(database.pool, projectId)).toEqual([body]);
});

test('reports a start that could not be made in time as missed, unless its run was admitted', async () => {
  const { deps, missed } = fixture();
  const { flowId, projectId } = (await newScenario()).flow;
  const eventTypes = ['schedule.missed' as const];
  await addEndpoint(database.pool, { projectId, url: 'https://hooks.example/', eventTypes });
  const late = startOf(flowId);
  for (let count = 0; count < 2; count += 1) await missScheduledRun(deps, late);
  const admitted = startOf(flowId);
  await triggerScheduledRun(deps, admitted);
  await missScheduledRun(deps, admitted);
  await missScheduledRun(deps, startOf(randomUUID()));
  const at = new Date(scheduledAt);
  expect(missed).toEqual([{ flowId, projectId, reason: 'late', count: 1, scheduledAt: at }]);
  expect(await missedEvents(database.pool, projectId)).toMatchObject([
    { reason: 'late', count: 1 },
  ]);
  const starts = await deps.schedules.listStarts(flowId);
  expect(new Map(starts.map(({ runId, rejectedCode }) => [runId, rejectedCode]))).toEqual(
    new Map([
      [late.runId, 'late'],
      [admitted.runId, null],
    ]),
  );
});

test('keeps the latest 20 starts of a schedule', async () => {
  const { schedules } = fixture().deps;
  const { flowId } = (await newScenario()).flow;
  const { flowId: other } = (await newScenario()).flow;
  const { startsKept } = scheduleLimits;
  const record = (of: string, minute: number, runId: string = randomUUID()) =>
    schedules.recordStart({
      ...{ flowId: of, runId, rejectedCode: null },
      scheduledAt: new Date(Date.UTC(2026, 10, 27, 9, minute)),
    });
  await record(other, 0);
  for (let minute = 0; minute < startsKept; minute += 1) await record(flowId, minute);
  const minutes = async () =>
    (await schedules.listStarts(flowId)).map(({ scheduledAt: at }) => at.getUTCMinutes());
  const latest = Array.from({ length: startsKept }, (_, n) => startsKept - 1 - n);
  expect(await minutes()).toEqual(latest);
  const runId = randomUUID();
  for (const isNew of [true, false]) expect(await record(flowId, startsKept, runId)).toBe(isNew);
  expect(await minutes()).toEqual(latest.map((minute) => minute + 1));
  expect(await schedules.listStarts(other)).toHaveLength(1);
});

test('starts no run of an archived flow or project, and reports no missed start', async () => {
  const { deps, flows, missed } = fixture();
  const { flowId, projectId } = (await newScenario()).flow;
  const read = await flows.find(flowId);
  const projects = createProjectStore(database.pool, testSealer);
  await projects.archive(projectId, true);
  expect(await triggerScheduledRun(deps, startOf(flowId))).toEqual({ outcome: 'unscheduled' });
  await projects.archive(projectId, false);
  await flows.archive(flowId, true);
  const raced = { ...deps, flows: { find: async () => read } };
  for (const on of [deps, raced])
    expect(await triggerScheduledRun(on, startOf(flowId))).toEqual({ outcome: 'unscheduled' });
  expect([missed, await deps.schedules.listStarts(flowId)]).toEqual([[], []]);
});

test('starts no run while the schedule is paused', async () => {
  const { deps, flows, missed } = fixture();
  const { flow } = await newScenario();
  expect(await flows.pauseSchedule(flow.flowId, true)).toBe(true);
  expect(await triggerScheduledRun(deps, startOf(flow.flowId))).toEqual({ outcome: 'unscheduled' });
  expect([missed, await deps.schedules.listStarts(flow.flowId)]).toEqual([[], []]);
  expect(await flows.pauseSchedule(flow.flowId, false)).toBe(true);
  expect(await triggerScheduledRun(deps, startOf(flow.flowId))).toEqual({ outcome: 'admitted' });
});

test('throws while a database restore is not reconciled', async () => {
  const { deps, runs } = fixture();
  const { flow } = await newScenario();
  const tick = startOf(flow.flowId);
  await database.pool.query('select record_restore(db_clock())');
  await expect(triggerScheduledRun(deps, tick)).rejects.toThrow('not reconciled');
  expect(await runs.find(tick.runId)).toBeNull();
  await database.pool.query('update restores set reconciled_at = db_clock()');
  expect(await triggerScheduledRun(deps, tick)).toEqual({ outcome: 'admitted' });
});

test('throws while an API finds the disk of Postgres short, and stores nothing', async () => {
  const { deps, runs } = fixture();
  const { flow } = await newScenario();
  const tick = startOf(flow.flowId);
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
  const tick = startOf(flow.flowId);
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
    expect(await triggerScheduledRun(deps, startOf(flowId))).toEqual({ outcome: 'unscheduled' });
  }
});
