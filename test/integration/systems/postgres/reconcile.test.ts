import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import type { RunOutline } from '../../../../core/runs/run.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createReconcileStore } from '../../../../systems/postgres/maintenance/reconcile-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createWebhookStore } from '../../../../systems/postgres/runs/webhook-store.ts';
import { claimNext } from '../../../support/claim-next.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { attemptsAge } from './attempts-age.ts';

let database: TestDatabase;
let scenario: Scenario;
beforeAll(async () => {
  database = await createTestDatabase();
});
// The queries cover all runs, so each test starts without any.
beforeEach(async () => {
  await database.pool.query('truncate projects, hosts cascade');
  scenario = await createScenario(database.pool, testSealer);
});
afterAll(() => database.drop());

const reconcile = () => createReconcileStore(database.pool);
const runs = () => createRunStore(database.pool, testSealer);
const minuteMs = 60_000;
const ids = (found: RunOutline[]) => found.map((run) => run.runId);

const dueWebhooks = async (olderThanMs: number) =>
  ids((await reconcile().pendingWebhooks(olderThanMs)).filter(({ isDue }) => isDue));

/** Moves everything stored a minute into the past. */
async function aMinutePasses(): Promise<void> {
  await database.pool.query(
    `update runs set created_at = created_at - interval '1 min',
       end_cause_at = end_cause_at - interval '1 min', ended_at = ended_at - interval '1 min'`,
  );
  await database.pool.query(`update hosts set last_seen = last_seen - interval '1 min'`);
}

async function end(runId: string): Promise<void> {
  await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
}

test('finds runs whose workflow was not started, once they are old enough', async () => {
  const [forgotten, started, ended] = [
    await scenario.run(),
    await scenario.run(),
    await scenario.run(),
  ];
  await runs().markWorkflowStarted(started.runId);
  await end(ended.runId);
  expect(await reconcile().unstarted(5_000)).toEqual([]);
  await aMinutePasses();
  const young = await scenario.run();
  expect(ids(await reconcile().unstarted(5_000))).toEqual([forgotten.runId]);
  expect(ids(await reconcile().unstarted(-1_000))).toContain(young.runId);
});

test('finds recorded causes of runs that have not ended', async () => {
  const [stopped, ended, live] = [await scenario.run(), await scenario.run(), await scenario.run()];
  await runs().recordCause({ runId: stopped.runId, cause: 'stopped_by_api', detail: null });
  await end(ended.runId);
  expect(await reconcile().unfinishedStops(5_000)).toEqual([]);
  await aMinutePasses();
  await runs().recordCause({ runId: live.runId, cause: 'timed_out', detail: null });
  expect(ids(await reconcile().unfinishedStops(5_000))).toEqual([stopped.runId]);
});

test('pages through the active runs, each once', async () => {
  const all = await Promise.all(Array.from({ length: 5 }, () => scenario.run()));
  await scenario.run();
  for (const { runId } of all) await runs().markWorkflowStarted(runId);
  const live = all.map((run) => run.runId).sort();
  await end(live.pop() ?? '');
  const first = await reconcile().activeRuns(3);
  const second = await reconcile().activeRuns(3, first.at(-1)?.runId);
  expect([...ids(first), ...ids(second)]).toEqual(live);
});

test('finds the started runs of lost and of unknown hosts', async () => {
  const hosts = createHostStore(database.pool);
  await hosts.renew({ hostId: 'h', name: 'h', capacity: 2 });
  const [placed, ended] = [await scenario.run(), await scenario.run()];
  const unplaced = await scenario.run();
  expect(unplaced.hostId).toBeNull();
  await end(ended.runId);
  await runs().markStarted(placed.runId, 1, 'idle');
  await aMinutePasses();
  expect(ids(await reconcile().runsOnLostHosts(2 * minuteMs))).toEqual([]);
  expect(ids(await reconcile().runsOnLostHosts(minuteMs))).toEqual([placed.runId]);
  expect(ids(await runs().activeOnHost('h'))).toEqual([placed.runId]);
  await database.pool.query('delete from hosts');
  expect(ids(await reconcile().runsOnLostHosts(2 * minuteMs))).toEqual([placed.runId]);
});

test('finds webhooks that were neither delivered nor dropped', async () => {
  const callbackUrl = 'https://hooks.example';
  const webhooks = createWebhookStore(database.pool, testSealer);
  const all = await Promise.all(Array.from({ length: 3 }, () => scenario.run({ callbackUrl })));
  const [pending, delivered, dropped] = all.map((run) => run.runId);
  if (!pending || !delivered || !dropped) throw new Error('no runs');
  for (const runId of [pending, delivered, dropped]) await end(runId);
  await claimNext(webhooks, delivered);
  await webhooks.recordAttempt(delivered, 1, { status: 200, error: null });
  await webhooks.drop(dropped);
  expect(await dueWebhooks(5_000)).toEqual([]);
  await aMinutePasses();
  expect(await dueWebhooks(5_000)).toEqual([pending]);
});

test('finds a webhook in the middle of its attempts when the next one is due, and not before', async () => {
  const { runId } = await scenario.run({ callbackUrl: 'https://hooks.example' });
  await end(runId);
  const webhooks = createWebhookStore(database.pool, testSealer);
  const pending = () => dueWebhooks(0);
  const shortOfItMs = 1_500;
  for (const [made, delayMs] of [2_000, 10_000, 30_000].entries()) {
    await claimNext(webhooks, runId);
    await attemptsAge(database, delayMs - shortOfItMs);
    expect(await pending(), 'its outcome is unknown').toEqual([]);
    await webhooks.recordAttempt(runId, made + 1, { status: 500, error: null });
    await attemptsAge(database, delayMs - shortOfItMs);
    expect(await pending()).toEqual([]);
    await attemptsAge(database, shortOfItMs);
    expect(await pending()).toEqual([runId]);
  }
  await claimNext(webhooks, runId);
  await attemptsAge(database, limits.webhook.attemptMaxMs - shortOfItMs);
  expect(await pending(), 'the last attempt is in progress').toEqual([]);
  await attemptsAge(database, shortOfItMs);
  expect(await pending(), 'to be given up').toEqual([runId]);
});
