// A run whose host leaves before the run was started, and the sandbox that the host may still
// start.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createRunConfigStore } from '../../../../systems/postgres/admission/run-config-store.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { setupFreshScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const second = useSecondPool(database);
beforeEach(() => database.pool.query('truncate runs, hosts cascade'));

const hosts = () => createHostStore(database.pool);
const runs = () => createRunStore(database.pool, testSealer);
const frames = () => createFrameStore(database.pool);
const configs = (pool = database.pool) => createRunConfigStore(pool, testSealer);
const claim = (run: Pick<Run, 'runId'>, after: number, pool = database.pool) =>
  createAdmission(pool, testSealer).claimSlot(run.runId, after);
const renew = (hostId: string, capacity = 4) => hosts().renew({ hostId, name: hostId, capacity });
const next = (run: Run) => ({ runId: run.runId, generation: run.generation + 1 });

/** A run on the host that leaves. The other host could take it. */
async function runOnLeavingHost(): Promise<Run> {
  await renew('leaves');
  const run = await scenario.run();
  await renew('stays');
  await hosts().markStopped('leaves');
  expect(run).toMatchObject({ hostId: 'leaves', generation: 1 });
  return run;
}

test('a host whose worker stops gets nothing until its next heartbeat', async () => {
  await renew('h');
  const pinned = await createScenario(database.pool, testSealer, { flow: { runner: 'h' } });
  await hosts().markStopped('h');
  expect(await hosts().list()).toMatchObject([{ hostId: 'h', stoppedAt: expect.any(Date) }]);
  const waiting = await scenario.run();
  expect(waiting.hostId).toBeNull();
  expect(await claim(waiting, 0)).toBeNull();
  const offline = { outcome: 'rejected', reason: 'RUNNER_OFFLINE' };
  const admission = createAdmission(database.pool, testSealer);
  expect(await admission.admitRun(pinned.request())).toEqual(offline);
  await renew('h');
  await admission.assignWaiting();
  expect(await hosts().list()).toMatchObject([{ hostId: 'h', stoppedAt: null }]);
  expect(await claim(waiting, 0)).toMatchObject({ hostId: 'h', generation: 1 });
  expect((await pinned.run()).hostId).toBe('h');
});

describe('a run that was not started', () => {
  test('moves under the next generation, and a second call returns the same', async () => {
    const run = await runOnLeavingHost();
    for (let n = 0; n < 2; n += 1) {
      expect(await claim(run, 1)).toMatchObject({ hostId: 'stays', generation: 2 });
    }
    expect(await runs().find(run.runId)).toMatchObject({ hostId: 'stays', generation: 2 });
    expect(await hosts().list()).toMatchObject([{ used: 0 }, { used: 1 }]);
  });

  test('moves away from a draining host only if another one has a free slot', async () => {
    await renew('drains');
    const run = await scenario.run();
    await hosts().setDraining('drains', true);
    expect(await claim(run, 1)).toMatchObject({ hostId: 'drains', generation: 1 });
    await renew('stays');
    expect(await claim(run, 1)).toMatchObject({ hostId: 'stays', generation: 2 });
  });

  test('waits for a slot if every other host is full, and gets one of any host', async () => {
    await renew('leaves');
    const run = await scenario.run();
    await hosts().markStopped('leaves');
    expect(await claim(run, 1)).toBeNull();
    expect(await runs().find(run.runId)).toMatchObject({ hostId: null, generation: 2 });
    await renew('leaves');
    await createAdmission(database.pool, testSealer).assignWaiting();
    expect(await claim(run, 1)).toMatchObject({ hostId: 'leaves', generation: 2 });
  });

  test('leaves its configuration and its log to the next sandbox', async () => {
    const run = await runOnLeavingHost();
    const before = await frames().takeLease(run.runId, 'leaves', 60_000);
    await claim(run, 1);
    expect(await frames().renewLease(run.runId, before?.token ?? 0, 60_000)).toBe('lost');
    expect(await configs().read(run)).toBeNull();
    expect(await configs().acknowledge(run)).toBe(false);
    expect(await runs().markStarted(run.runId, 1, 'idle')).toBe(false);
    const cause = { cause: 'exited', detail: null } as const;
    expect(await runs().recordCause({ ...run, ...cause })).toBeNull();

    expect(await frames().takeLease(run.runId, 'stays', 60_000)).toMatchObject({ generation: 2 });
    expect(await configs().read(next(run))).not.toBeNull();
    expect(await runs().markStarted(run.runId, 2, 'idle')).toBe(true);
    expect(await configs().acknowledge(next(run))).toBe(true);
    expect(await runs().recordCause({ ...next(run), ...cause })).toBe('exited');
  });
});

describe('a run stays on the host that leaves', () => {
  const stays = { hostId: 'leaves', generation: 1 };

  test('if its container was started', async () => {
    const run = await runOnLeavingHost();
    await runs().markStarted(run.runId, 1, 'idle');
    expect(await claim(run, 1)).toMatchObject(stays);
  });

  test('if its configuration was acknowledged', async () => {
    const run = await runOnLeavingHost();
    expect(await configs().acknowledge(run)).toBe(true);
    expect(await claim(run, 1)).toMatchObject(stays);
    expect(await configs().acknowledge(run)).toBe(true);
  });

  test('if it is about to end', async () => {
    const run = await runOnLeavingHost();
    await runs().recordCause({ runId: run.runId, cause: 'stopped_by_api', detail: null });
    expect(await claim(run, 1)).toMatchObject(stays);
  });

  test('if its flow is bound to that host', async () => {
    await renew('leaves');
    const pinned = await createScenario(database.pool, testSealer, { flow: { runner: 'leaves' } });
    const run = await pinned.run();
    await renew('stays');
    await hosts().markStopped('leaves');
    expect(await claim(run, 1)).toMatchObject(stays);
  });
});

test('of a move and a late start, exactly one happens, whichever comes first', async () => {
  const outcomes = new Set<string>();
  for (let round = 0; round < 40; round += 1) {
    await database.pool.query('truncate runs, hosts cascade');
    const run = await runOnLeavingHost();
    const late = () => configs(second()).acknowledge(run);
    const move = () => claim(run, 1);
    const [isStarted, slot] =
      round % 2 === 0
        ? await Promise.all([late(), move()])
        : (await Promise.all([move(), late()])).toReversed();
    const hasMoved = (slot as Awaited<ReturnType<typeof move>>)?.generation === 2;
    expect(isStarted).toBe(!hasMoved);
    expect(await configs().acknowledge(next(run))).toBe(hasMoved);
    outcomes.add(hasMoved ? 'moved' : 'started');
  }
  expect(outcomes).toEqual(new Set(['moved', 'started']));
});
