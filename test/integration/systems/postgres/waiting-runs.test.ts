// Runs that wait for a slot of a host: in which order they get it, and that it is given once.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { storeMessage } from './session-turns.ts';
import { setupFreshScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const second = useSecondPool(database);
beforeEach(() => database.pool.query('truncate runs, hosts, project_turns cascade'));

const admission = (pool = database.pool) => createAdmission(pool, testSealer);
const turns = () => createTurnStore(database.pool);
const renew = (hostId: string, capacity: number) =>
  createHostStore(database.pool).renew({ hostId, name: hostId, capacity });
const claim = async ({ runId }: Run) => (await admission().claimSlot(runId, 0))?.hostId ?? null;
const assign = async (): Promise<string[]> =>
  (await admission().assignWaiting()).map(({ runId }) => runId);

async function end({ runId }: Run): Promise<boolean> {
  const runs = createRunStore(database.pool, testSealer);
  const ended = await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  return ended.hasWaiting;
}

async function runsOf(of: Scenario, count: number): Promise<Run[]> {
  const runs: Run[] = [];
  while (runs.length < count) runs.push(await of.run());
  return runs;
}

/** A session with a message, whose workflow has claimed a slot. */
async function claimingSession(): Promise<Run> {
  const run = await scenario.session();
  await storeMessage(database.pool, run.runId);
  await turns().claimSlot(run.runId, 0);
  return run;
}

/** Ends the run and those that follow it, and returns in which order they got the only slot. */
async function servedAfter(run: Run, waiting: Run[]): Promise<Run[]> {
  const served: Run[] = [];
  let last = run;
  while (served.length < waiting.length) {
    await end(last);
    const [runId] = await assign();
    const next = waiting.find((waits) => waits.runId === runId);
    if (next === undefined) throw new Error('no run was assigned the slot');
    expect(await claim(next)).toBe('h');
    served.push(next);
    last = next;
  }
  return served;
}

describe('a slot that was released', () => {
  test('is given to the longest-waiting run, and a new run does not overtake it', async () => {
    await renew('h', 1);
    const first = await scenario.run();
    const waiting = await scenario.run();
    expect(await end(first)).toBe(true);
    const later = await scenario.run();
    expect(later.hostId).toBeNull();
    expect(await claim(later)).toBeNull();
    expect(await assign()).toEqual([waiting.runId]);
    expect(await claim(waiting)).toBe('h');
    expect(await claim(later)).toBeNull();
  });

  test('is given to the runs of a project in order, and to projects in turn', async () => {
    await renew('h', 1);
    const other = await createScenario(database.pool, testSealer);
    const first = await scenario.run();
    const many = await runsOf(scenario, 4);
    const few = await runsOf(other, 2);
    const [a1, a2, a3, a4] = many;
    const [b1, b2] = few;
    const expected = [a1, b1, a2, b2, a3, a4];
    expect(await servedAfter(first, [...many, ...few])).toEqual(expected);
  });

  test('is given to a session whose message waits, in its turn', async () => {
    await renew('h', 1);
    const first = await scenario.run();
    const session = await claimingSession();
    const later = await scenario.run();
    await end(first);
    expect(await assign()).toEqual([session.runId]);
    const slot = { outcome: 'assigned', hostId: 'h', generation: 1 };
    for (let n = 0; n < 2; n += 1)
      expect(await turns().claimSlot(session.runId, 0)).toMatchObject(slot);
    expect(await claim(later)).toBeNull();
  });

  test('is not given to a run that was stopped, and not kept by one that has ended', async () => {
    await renew('h', 1);
    const first = await scenario.run();
    const [stopped, ended, last] = await runsOf(scenario, 3);
    if (!stopped || !ended || !last) throw new Error('no runs');
    const runs = createRunStore(database.pool, testSealer);
    await runs.recordCause({ runId: stopped.runId, cause: 'stopped_by_api', detail: null });
    await end(first);
    expect(await assign()).toEqual([ended.runId]);
    // Its workflow ends without having claimed the slot.
    expect(await end(ended)).toBe(true);
    expect(await assign()).toEqual([last.runId]);
  });

  test('is released by a session whose message has failed before it claimed the slot', async () => {
    await renew('h', 1);
    const first = await scenario.run();
    const session = await claimingSession();
    await end(first);
    expect(await assign()).toEqual([session.runId]);
    const why = { error: 'no_capacity', reason: 'no slot' } as const;
    expect(await turns().failTurn({ runId: session.runId, generation: 1 }, why)).toBe(true);
    expect((await scenario.run()).hostId).toBe('h');
  });
});

test('a run that may start only on another host delays no other one', async () => {
  await renew('h', 1);
  await renew('full', 0);
  const bound = await createScenario(database.pool, testSealer, { flow: { runner: 'full' } });
  const first = await scenario.run();
  const waiting = await bound.run();
  const later = await scenario.run();
  await end(first);
  expect(await assign()).toEqual([later.runId]);
  await end(later);
  expect((await scenario.run()).hostId).toBe('h');
  await renew('full', 1);
  expect(await assign()).toEqual([waiting.runId]);
});

test('runs that wait for a host which fills up leave the slots of other hosts to later runs', async () => {
  await renew('h-1', 0);
  const bound = await createScenario(database.pool, testSealer, { flow: { runner: 'h-1' } });
  const [first] = await runsOf(bound, 6);
  const later = await runsOf(scenario, 4);
  await renew('h-1', 1);
  await renew('h-2', 3);
  const assigned = [first, ...later.slice(0, 3)];
  expect(await assign()).toEqual(assigned.map((run) => run?.runId));
  expect(await Promise.all(later.map(claim))).toEqual(['h-2', 'h-2', 'h-2', null]);
});

test('a run that another transaction has locked is passed over and stays first', async () => {
  await renew('h', 1);
  const first = await scenario.run();
  const [locked, next] = await runsOf(scenario, 2);
  await end(first);
  const client = await second().connect();
  await client.query('begin');
  await client.query('select from runs where id = $1 for no key update', [locked?.runId]);
  expect(await assign()).toEqual([next?.runId]);
  await client.query('rollback');
  client.release();
  if (next) await end(next);
  expect(await assign()).toEqual([locked?.runId]);
});

test('ten slots for a hundred runs, assigned by many at once, are each given once, in turn', async () => {
  const others = await Promise.all(
    Array.from({ length: 3 }, () => createScenario(database.pool, testSealer)),
  );
  await runsOf(scenario, 70);
  for (const other of others) await runsOf(other, 10);
  await renew('h-1', 6);
  await renew('h-2', 4);
  const pools = [database.pool, second()];
  const assigned = await Promise.all(
    Array.from({ length: 20 }, (_, n) => admission(pools[n % 2]).assignWaiting()),
  );
  const runIds = assigned.flat().map(({ runId }) => runId);
  expect(new Set(runIds).size).toBe(10);
  expect(runIds).toHaveLength(10);
  const { rows } = await database.pool.query<{ project_id: string; held: number }>(
    `select project_id, count(*)::int as held from runs where host_id is not null
     group by project_id order by min(waiting_since)`,
  );
  expect(rows.map(({ held }) => held)).toEqual([3, 3, 2, 2]);
  expect(await createHostStore(database.pool).list()).toMatchObject([
    { hostId: 'h-1', used: 6 },
    { hostId: 'h-2', used: 4 },
  ]);
});

test('runs that start, wait and end at once never exceed the capacity, and none is forgotten', async () => {
  await renew('h', 3);
  const pools = [database.pool, second()];
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 24 }, async (_, n) => {
      const stores = admission(pools[n % 2]);
      const run = await scenario.run();
      // As the workflow: claim when notified; here every end notifies all.
      while ((await stores.claimSlot(run.runId, 0)) === null) await stores.assignWaiting();
      running += 1;
      most = Math.max(most, running);
      await database.pool.query('select 1');
      running -= 1;
      await end(run);
    }),
  );
  expect(most).toBeLessThanOrEqual(3);
  expect(most).toBeGreaterThan(0);
});
