import { describe, expect, it } from 'vitest';
import type { Run } from '../../../../../core/runs/run.ts';
import { createRunConfigStore } from '../../../../../systems/postgres/admission/run-config-store.ts';
import { createMessageStore } from '../../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../../support/database.ts';
import { createScenario } from '../../../../support/database-records.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();

const renew = (hostId: string) => fixture.hosts.renew({ hostId, name: hostId, capacity: 4 });

/** The sandboxes that a pass requests to move. */
async function requested(): Promise<string[]> {
  fixture.calls.length = 0;
  fixture.clock.now += 120_000;
  await fixture.reconciler.pass();
  return fixture.calls.filter((call) => call.startsWith('lost '));
}

async function runOn(hostId: string, of = scenario): Promise<Run> {
  await renew(hostId);
  const run = await fixture.started(await of.run());
  expect(run.hostId).toBe(hostId);
  return run;
}

describe('a run that was not started', () => {
  it('moves as soon as its host stops', async () => {
    const run = await runOn('h');
    expect(await requested()).toEqual([]);
    await fixture.hosts.markStopped('h');
    expect(await requested()).toEqual([`lost ${run.workflowId}-1`]);
    await renew('h');
    expect(await requested()).toEqual([]);
  });

  it('moves from a draining host if another host has a free slot', async () => {
    const run = await runOn('h');
    await fixture.hosts.setDraining('h', true);
    expect(await requested()).toEqual([]);
    await renew('other');
    expect(await requested()).toEqual([`lost ${run.workflowId}-1`]);
  });

  it('moves from a lost host instead of ending', async () => {
    const run = await runOn('h');
    await database.pool.query(`update hosts set last_seen = last_seen - interval '2 minutes'`);
    expect(await requested(), 'this worker has just started').toEqual([]);
    for (let passedMs = 0; passedMs <= 30_000; passedMs += 5_000) {
      fixture.renewals.renewed();
      fixture.clock.now += 5_000;
    }
    fixture.renewals.renewed();
    fixture.calls.length = 0;
    await fixture.reconciler.pass();
    expect(fixture.calls).toEqual([`lost ${run.workflowId}-1`]);
    expect((await fixture.read(run)).endCause).toBeNull();
  });

  it('stays if its flow is bound to the host, and ends with it', async () => {
    const pinned = await createScenario(database.pool, testSealer, { flow: { runner: 'h' } });
    await renew('h');
    const run = await runOn('h', pinned);
    await fixture.hosts.markStopped('h');
    expect(await requested()).toEqual([]);
    await database.pool.query(`update hosts set last_seen = last_seen - interval '2 minutes'`);
    for (let passedMs = 0; passedMs <= 30_000; passedMs += 5_000) {
      fixture.renewals.renewed();
      fixture.clock.now += 5_000;
    }
    fixture.renewals.renewed();
    await fixture.reconciler.pass();
    expect(await fixture.read(run)).toMatchObject({ endCause: 'max_reconnects_exceeded' });
  });
});

it('a run whose agent may run does not move', async () => {
  const [started, acknowledged] = [await runOn('h'), await runOn('h')];
  await fixture.runs.markStarted(started.runId, 1, 'idle');
  await createRunConfigStore(database.pool, testSealer).acknowledge(acknowledged);
  await fixture.hosts.markStopped('h');
  expect(await requested()).toEqual([]);
});

it('a message whose sandbox was not started moves, and one in a started sandbox does not', async () => {
  await renew('h');
  const turns = createTurnStore(database.pool);
  const sessions = [];
  for (const messageId of [
    '00000000-0000-4000-8000-000000000001',
    '00000000-0000-4000-8000-000000000002',
  ]) {
    const session = await fixture.started(await scenario.session());
    const message = { messageId, clientMessageId: null, text: 'Hello.' };
    await createMessageStore(database.pool).store({ runId: session.runId, ...message });
    expect(await turns.claimSlot(session.runId, 0)).toMatchObject({ hostId: 'h', generation: 1 });
    sessions.push(session);
  }
  const [waiting, awake] = sessions;
  if (!waiting || !awake) throw new Error('no sessions');
  await database.pool.query(`update sessions set started_generation = 1 where run_id = $1`, [
    awake.runId,
  ]);
  await fixture.hosts.markStopped('h');
  expect(await requested()).toEqual([`lost ${waiting.workflowId}-1`]);
});
