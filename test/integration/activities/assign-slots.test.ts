import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { createSlotAssigner } from '../../../activities/assign-slots.ts';
import { createAdmission } from '../../../systems/postgres/admission/admission.ts';
import { createHostStore } from '../../../systems/postgres/hosts/host-store.ts';
import { createMessageStore } from '../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../support/database.ts';
import { storeMessage } from '../systems/postgres/session-turns.ts';
import { setupFreshScenario } from '../systems/postgres/setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
let signalled: string[] = [];
let isAway = false;
beforeEach(async () => {
  await database.pool.query('truncate runs, hosts cascade');
  signalled = [];
  isAway = false;
});

async function send(signal: string): Promise<void> {
  if (isAway) throw new Error('away');
  signalled.push(signal);
}

const temporal = {
  signalSleep: (workflowId: string) => send(`sleep ${workflowId}`),
  signalSlotAssigned: (workflowId: string) => send(`slot ${workflowId}`),
  signalWork: (workflowId: string) => send(`work ${workflowId}`),
};
const logger = pino({ enabled: false });
const admission = () => createAdmission(database.pool, testSealer);
const renew = (capacity: number) =>
  createHostStore(database.pool).renew({ hostId: 'h', name: 'h', capacity });

describe('waiting runs', () => {
  const assigner = () =>
    createSlotAssigner({ admission: admission(), temporal, now: () => new Date(), logger });

  test('are notified when they are assigned a slot, except the run that is claiming', async () => {
    const [first, second, third] = [
      await scenario.run(),
      await scenario.run(),
      await scenario.run(),
    ];
    await renew(2);
    expect(await assigner().assignFor(second.runId)).toBe(true);
    expect(signalled).toEqual([`slot ${first.workflowId}`]);
    expect(await assigner().assignFor(third.runId)).toBe(false);
    expect(signalled).toHaveLength(1);
  });

  test('are notified again, by any process, until they have claimed their slot', async () => {
    const { runId, workflowId } = await scenario.run();
    await renew(1);
    isAway = true;
    await assigner().assign();
    expect((await renew(1))?.hasWaiting).toBe(true);
    isAway = false;
    await assigner().repair();
    await assigner().repair();
    expect(signalled).toEqual([`slot ${workflowId}`, `slot ${workflowId}`]);
    expect(await admission().claimSlot(runId, 0)).toMatchObject({ hostId: 'h' });
    await assigner().repair();
    expect(signalled).toHaveLength(2);
    expect((await renew(1))?.hasWaiting).toBe(false);
  });

  test('are signalled of their work too if a hint has woken them', async () => {
    const { runId, workflowId } = await scenario.session();
    await renew(1);
    await storeMessage(database.pool, runId);
    await createMessageStore(database.pool).wakeSession(runId);
    expect((await renew(1))?.hasWaiting).toBe(true);
    await assigner().repair();
    expect(signalled).toEqual([`slot ${workflowId}`, `work ${workflowId}`]);
    await createTurnStore(database.pool).claimSlot(runId, 0);
    await assigner().repair();
    expect(signalled).toHaveLength(2);
  });
});
