import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Flow } from '../../../../../core/flows/flow.ts';
import { createFlowStore } from '../../../../../systems/postgres/accounts/flow-store.ts';
import { createProjectStore } from '../../../../../systems/postgres/accounts/project-store.ts';
import { createScheduleStore } from '../../../../../systems/postgres/maintenance/schedule-store.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../../../support/database.ts';
import { createScenario } from '../../../../support/database-records.ts';
import { addEndpoint } from '../../../../support/endpoints.ts';
import { missedEvents } from '../../../../support/missed-events.ts';
import { createReconcilerFixture } from '../reconciler-fixture.ts';

let database: TestDatabase;
let fixture: ReturnType<typeof createReconcilerFixture>;
beforeAll(async () => {
  database = await createTestDatabase();
  fixture = createReconcilerFixture(database);
});
afterAll(() => database?.drop());

const daily = { cron: '0 9 * * *', timezone: 'UTC' };
const callsFor = ({ flowId }: Flow) => fixture.calls.filter((line) => line.includes(flowId));
const flows = () => createFlowStore(database.pool, testSealer);
const newFlow = async () =>
  (await createScenario(database.pool, testSealer, { flow: { prompt: 'Go', schedule: daily } }))
    .flow;

test('a schedule is synced to Temporal once per change, and deleted once', async () => {
  const flow = await newFlow();
  const plain = (await createScenario(database.pool, testSealer)).flow;
  for (let count = 0; count < 2; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow)).toEqual([`schedule ${flow.flowId} 0 9 * * * UTC`]);
  await flows().change(flow.flowId, () => ({
    schedule: { cron: '1 9 * * *', timezone: 'Europe/Berlin' },
  }));
  for (let count = 0; count < 2; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow).slice(1)).toEqual([`schedule ${flow.flowId} 1 9 * * * Europe/Berlin`]);
  await flows().change(flow.flowId, () => ({ schedule: null }));
  for (let count = 0; count < 2; count += 1) await fixture.reconciler.pass();
  await flows().change(flow.flowId, () => ({ name: 'Renamed' }));
  await fixture.reconciler.pass();
  expect(callsFor(flow).slice(2)).toEqual([`unschedule ${flow.flowId}`]);
  expect(callsFor(plain)).toEqual([]);
});

test('retries a failed sync, without delaying other flows', async () => {
  const [bad, good] = [await newFlow(), await newFlow()];
  const { ensureSchedule } = fixture.deps.temporal;
  fixture.deps.temporal.ensureSchedule = async (flowId, schedule) => {
    if (flowId === bad.flowId) throw new Error('away');
    return ensureSchedule(flowId, schedule);
  };
  await fixture.reconciler.pass();
  expect([callsFor(bad).length, callsFor(good).length]).toEqual([0, 1]);
  fixture.deps.temporal.ensureSchedule = ensureSchedule;
  await fixture.reconciler.pass();
  expect([callsFor(bad).length, callsFor(good).length]).toEqual([1, 1]);
});

test('all schedules are synced again when an hour has passed, in case Temporal has lost some', async () => {
  const flow = await newFlow();
  const line = `schedule ${flow.flowId} 0 9 * * * UTC`;
  const passTime = async (ms: number) => {
    fixture.clock.now += ms;
    const text = `update reconciler_jobs set free_at = free_at - $1 * interval '1 ms'
                  where name = 'schedules'`;
    await database.pool.query(text, [ms]);
  };
  await fixture.reconciler.pass();
  await passTime(3_500_000);
  await fixture.reconciler.pass();
  expect(callsFor(flow)).toEqual([line]);
  await passTime(100_000);
  for (let count = 0; count < 2; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow)).toEqual([line, line]);
});

test('a change during a sync is synced too', async () => {
  const flow = await newFlow();
  const { ensureSchedule } = fixture.deps.temporal;
  fixture.deps.temporal.ensureSchedule = async (flowId, schedule) => {
    await flows().change(flowId, () => ({ schedule: null }));
    fixture.deps.temporal.ensureSchedule = ensureSchedule;
    return ensureSchedule(flowId, schedule);
  };
  for (let count = 0; count < 3; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow)).toEqual([
    `schedule ${flow.flowId} 0 9 * * * UTC`,
    `unschedule ${flow.flowId}`,
  ]);
});

test('continues after a page of schedules that cannot be synced, and returns to them', async () => {
  const { flowId: copied } = await newFlow();
  const { rows } = await database.pool.query<{ id: string }>(
    `insert into flows (id, project_id, name, prompt, memory_bytes, cpus, schedule_cron,
       schedule_timezone, updated_at)
     select lpad(n::text, 32, '0')::uuid, project_id, name, prompt, memory_bytes, cpus,
       schedule_cron, schedule_timezone, db_clock() - interval '1 hour'
     from flows, generate_series(1, 100) n where id = $1 returning id`,
    [copied],
  );
  const failing = new Set(rows.map(({ id }) => id));
  const { ensureSchedule } = fixture.deps.temporal;
  fixture.deps.temporal.ensureSchedule = async (flowId, schedule) => {
    if (failing.has(flowId)) throw new Error('away');
    return ensureSchedule(flowId, schedule);
  };
  const good = await newFlow();
  for (let pass = 0; pass < 4; pass += 1) await fixture.reconciler.pass();
  expect(callsFor(good)).toHaveLength(1);
  fixture.deps.temporal.ensureSchedule = ensureSchedule;
  for (let pass = 0; pass < 4; pass += 1) await fixture.reconciler.pass();
  expect(fixture.calls.filter((line) => failing.has(line.split(' ')[1] ?? ''))).toHaveLength(100);
});

test('a schedule is paused and resumed, also if it is resumed during a sync', async () => {
  const flow = await newFlow();
  const line = `schedule ${flow.flowId} 0 9 * * * UTC`;
  await fixture.reconciler.pass();
  expect(await flows().pauseSchedule(flow.flowId, true)).toBe(true);
  expect(await flows().pauseSchedule(flow.flowId, true)).toBe(false);
  const { ensureSchedule } = fixture.deps.temporal;
  fixture.deps.temporal.ensureSchedule = async (flowId, schedule) => {
    await flows().pauseSchedule(flow.flowId, false);
    fixture.deps.temporal.ensureSchedule = ensureSchedule;
    return ensureSchedule(flowId, schedule);
  };
  for (let count = 0; count < 3; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow)).toEqual([line, `${line} paused`, line]);
});

test('a removed schedule is not paused when it is set again', async () => {
  const flow = await newFlow();
  await flows().pauseSchedule(flow.flowId, true);
  await flows().change(flow.flowId, () => ({ schedule: null }));
  expect(await flows().pauseSchedule(flow.flowId, true)).toBe(false);
  const again = await flows().change(flow.flowId, () => ({ schedule: daily }));
  expect(again).toMatchObject({ schedule: daily, schedulePausedAt: null });
});

test('the schedule of an archived flow is removed, and created again when it is restored', async () => {
  const flow = await newFlow();
  const line = `schedule ${flow.flowId} 0 9 * * * UTC`;
  const { ensureSchedule } = fixture.deps.temporal;
  fixture.deps.temporal.ensureSchedule = async (flowId, schedule) => {
    await flows().archive(flow.flowId, true);
    fixture.deps.temporal.ensureSchedule = ensureSchedule;
    return ensureSchedule(flowId, schedule);
  };
  for (let count = 0; count < 3; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow)).toEqual([line, `unschedule ${flow.flowId}`]);
  await flows().archive(flow.flowId, false);
  for (let count = 0; count < 2; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow).slice(2)).toEqual([line]);
});

test('the schedules of an archived project are removed, and created again when it is restored', async () => {
  const flow = await newFlow();
  const line = `schedule ${flow.flowId} 0 9 * * * UTC`;
  const projects = createProjectStore(database.pool, testSealer);
  const { ensureSchedule } = fixture.deps.temporal;
  fixture.deps.temporal.ensureSchedule = async (flowId, schedule) => {
    await projects.archive(flow.projectId, true);
    fixture.deps.temporal.ensureSchedule = ensureSchedule;
    return ensureSchedule(flowId, schedule);
  };
  for (let count = 0; count < 3; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow)).toEqual([line, `unschedule ${flow.flowId}`]);
  await projects.archive(flow.projectId, false);
  for (let count = 0; count < 2; count += 1) await fixture.reconciler.pass();
  expect(callsFor(flow).slice(2)).toEqual([line]);
});

test('starts that Temporal has skipped are reported once', async () => {
  const flow = await newFlow();
  const { projectId, flowId: id } = flow;
  const eventTypes = ['schedule.missed' as const];
  await addEndpoint(database.pool, { projectId, url: 'https://hooks.example/', eventTypes });
  const reported = () => fixture.calls.filter((line) => line.startsWith('missed'));
  const { ensureSchedule } = fixture.deps.temporal;
  let skipped = 0;
  fixture.deps.temporal.ensureSchedule = async (flowId, schedule) => {
    await ensureSchedule(flowId, schedule);
    return flowId === flow.flowId ? skipped : 0;
  };
  for (skipped of [0, 3, 3, 4]) {
    await flows().change(flow.flowId, () => ({ name: 'Changed' }));
    await fixture.reconciler.pass();
  }
  expect(reported()).toEqual(['missed 3 late', 'missed 1 late']);
  // A schedule that is created again in Temporal counts from 0.
  for (skipped of [0, 2]) {
    await flows().change(flow.flowId, () => ({ name: 'Changed' }));
    await fixture.reconciler.pass();
  }
  expect(reported().slice(2)).toEqual(['missed 2 late']);
  // The reconcilers of several workers report the same count.
  const { version } = (await flows().change(id, () => ({ name: 'Changed' }))) ?? flow;
  const read = { flowId: id, version, schedule: daily, isPaused: false };
  const { markSynced } = createScheduleStore(database.pool);
  const marked = await Promise.all(Array.from({ length: 10 }, () => markSynced(read, 9)));
  expect(marked.filter((each) => each !== null)).toEqual([{ projectId, count: 7 }]);
  const body = { projectId, flowId: id, reason: 'late', occurredAt: expect.any(String) };
  const events = [3, 1, 2, 7].map((count) => ({ ...body, count }));
  expect(await missedEvents(database.pool, projectId)).toEqual(events);
  fixture.deps.temporal.ensureSchedule = ensureSchedule;
});
