import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createPool, type Pool } from '../../../../systems/postgres/client/pool.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { healthyHost } from '../../../support/host-health.ts';

let database: TestDatabase;
let second: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  second = createPool(database.url, { applicationName: 'test-second', max: 20 });
});
beforeEach(() => database.pool.query('truncate runs, hosts cascade'));
afterAll(async () => {
  await second.end();
  await database.drop();
});

const hosts = () => createHostStore(database.pool);
const admission = (pool = database.pool) => createAdmission(pool, testSealer);
const renew = (hostId: string, capacity: number) =>
  hosts().renew({ hostId, name: hostId, capacity });

/** Hosts of this test only: runs of other tests occupy no slot on them. */
const newHostId = (): string => `host-${randomUUID()}`;

async function lastSeenAgo(hostId: string, ms: number): Promise<void> {
  await database.pool.query(
    `update hosts set last_seen = db_clock() - $2 * interval '1 ms' where id = $1`,
    [hostId, ms],
  );
}

async function end(runId: string): Promise<void> {
  const runs = createRunStore(database.pool, testSealer);
  await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
}

test('a run is placed on the host with the most free slots, and on none if all are full', async () => {
  const [large, small] = [newHostId(), newHostId()];
  await renew(large, 2);
  await renew(small, 1);
  const scenario = await createScenario(database.pool, testSealer);
  const placed = [
    await scenario.run(),
    await scenario.run(),
    await scenario.run(),
    await scenario.run(),
  ];
  const hostIds = placed.map((run) => run.hostId);
  expect(hostIds[0]).toBe(large);
  expect(hostIds.slice(0, 3).sort()).toEqual([large, large, small].sort());
  expect(hostIds[3]).toBeNull();
});

test('a host without capacity, a draining host and a stale host get nothing', async () => {
  const scenario = await createScenario(database.pool, testSealer);
  const hostId = newHostId();
  await renew(hostId, 0);
  expect((await scenario.run()).hostId).toBeNull();
  expect(await renew(hostId, 5)).toMatchObject({ draining: false });
  await hosts().setDraining(hostId, true);
  expect(await renew(hostId, 5)).toMatchObject({ draining: true });
  expect((await scenario.run()).hostId).toBeNull();
  await hosts().setDraining(hostId, false);
  await lastSeenAgo(hostId, 30_000);
  expect((await scenario.run()).hostId).toBeNull();
  await lastSeenAgo(hostId, 25_000);
  expect(await admission().assignWaiting()).toHaveLength(3);
  expect((await scenario.run()).hostId).toBe(hostId);
});

test.each([
  ['free space', 'diskFreeBytes', 2 * healthyHost.diskReserveBytes],
  ['free inodes', 'diskFreeInodes', 2 * healthyHost.diskReserveInodes],
])('a host short of %s keeps its runs and gets no new ones', async (_of, field, mark) => {
  const scenario = await createScenario(database.pool, testSealer);
  const host = { hostId: newHostId(), name: 'disk', capacity: 5 };
  const renewWith = (free: number) =>
    hosts().renew({ ...host, report: { ...healthyHost, [field]: free } });
  await renewWith(mark);
  const placed = await scenario.run();
  expect(placed.hostId).toBe(host.hostId);
  await renewWith(mark - 1);
  const waiting = await scenario.run();
  expect(waiting.hostId).toBeNull();
  expect(await admission().claimSlot(placed.runId, 0)).toMatchObject({ hostId: host.hostId });
  expect(await admission().assignWaiting()).toEqual([]);
  expect(await admission().claimSlot(waiting.runId, 0)).toBeNull();
  await renewWith(mark);
  await admission().assignWaiting();
  expect(await admission().claimSlot(waiting.runId, 0)).toMatchObject({ hostId: host.hostId });
});

test('a run that was admitted without a slot gets one when one is free, and keeps it', async () => {
  const hostId = newHostId();
  await renew(hostId, 1);
  const scenario = await createScenario(database.pool, testSealer);
  const first = await scenario.run();
  const waiting = await scenario.run();
  expect(await admission().claimSlot(waiting.runId, 0)).toBeNull();
  await end(first.runId);
  await admission().assignWaiting();
  expect(await admission().claimSlot(waiting.runId, 0)).toMatchObject({ hostId });
  await hosts().setDraining(hostId, true);
  expect(await admission().claimSlot(waiting.runId, 0)).toMatchObject({ hostId });
  expect(await hosts().list()).toMatchObject([{ hostId, capacity: 1, used: 1, draining: true }]);
});

test('neither an ended nor an unknown run gets a slot', async () => {
  const scenario = await createScenario(database.pool, testSealer);
  const { runId } = await scenario.run();
  await end(runId);
  await renew(newHostId(), 1);
  expect(await admission().claimSlot(runId, 0)).toBeNull();
  expect(await admission().claimSlot(randomUUID(), 0)).toBeNull();
});

test('a flow with a runner runs only there and is rejected while it is offline', async () => {
  const [runner, other] = [newHostId(), newHostId()];
  await renew(other, 5);
  const scenario = await createScenario(database.pool, testSealer, { flow: { runner } });
  const offline = { outcome: 'rejected', reason: 'RUNNER_OFFLINE' };
  expect(await admission().admitRun(scenario.request())).toEqual(offline);
  await renew(runner, 1);
  await lastSeenAgo(runner, 30_000);
  expect(await admission().admitRun(scenario.request())).toEqual(offline);
  await renew(runner, 1);
  expect((await scenario.run()).hostId).toBe(runner);
  const waiting = await scenario.run();
  expect(waiting.hostId).toBeNull();
  expect(await admission().claimSlot(waiting.runId, 0)).toBeNull();
});

test('an offline runner is reported before the limit and after an idempotency hit', async () => {
  const runner = newHostId();
  await renew(runner, 1);
  const given = { flow: { runner }, project: { maxConcurrentRuns: 1 } };
  const scenario = await createScenario(database.pool, testSealer, given);
  const first = await scenario.run({ idempotencyKey: 'k' });
  await lastSeenAgo(runner, 60_000);
  expect(await admission().admitRun(scenario.request())).toMatchObject({
    reason: 'RUNNER_OFFLINE',
  });
  const replay = await admission().admitRun(scenario.request({ idempotencyKey: 'k' }));
  expect(replay).toEqual({ outcome: 'replay', run: first });
});

test("eighty concurrent runs of two projects never exceed a host's capacity", async () => {
  const hostIds = [newHostId(), newHostId()];
  for (const hostId of hostIds) await renew(hostId, 9);
  const scenarios = [
    await createScenario(database.pool, testSealer),
    await createScenario(database.pool, testSealer),
  ];
  const admissions = [admission(database.pool), admission(second)];
  const placed = await Promise.all(
    Array.from({ length: 80 }, async (_, i) => {
      const request = scenarios[i % 2]?.request();
      const answer = request && (await admissions[Math.floor(i / 2) % 2]?.admitRun(request));
      return answer?.outcome === 'admitted' ? answer.run.hostId : undefined;
    }),
  );
  const counts = [...hostIds, null].map((id) => placed.filter((hostId) => hostId === id).length);
  expect(counts).toEqual([9, 9, 62]);
});

test('forty runs that wait at once share the free slots', async () => {
  const scenario = await createScenario(database.pool, testSealer);
  const waiting = await Promise.all(Array.from({ length: 40 }, () => scenario.run()));
  const hostId = newHostId();
  await renew(hostId, 7);
  const pools = [database.pool, second];
  const claims = await Promise.all(
    waiting.flatMap(({ runId }) =>
      pools.map(async (pool) => {
        await admission(pool).assignWaiting();
        return admission(pool).claimSlot(runId, 0);
      }),
    ),
  );
  expect(claims.filter((claim) => claim?.hostId === hostId)).toHaveLength(14);
  expect(await hosts().list()).toMatchObject([{ hostId, used: 7 }]);
});
