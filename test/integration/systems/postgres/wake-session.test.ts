// A hint assigns the host of a sleeping session's next sandbox before its workflow claims it.
// Either may come first, late, twice or not at all: each generation has one host and is used once.

import { beforeEach, expect, test } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import type { SandboxLease } from '../../../../systems/postgres/log/lease.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { storeMessage } from './session-turns.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
beforeEach(() =>
  // Frees the slots of the previous test.
  database.pool.query(
    `update runs set ended_at = db_clock(), end_cause = 'completed', status = 'sleep'
     where ended_at is null`,
  ),
);
const turns = () => createTurnStore(database.pool);
const messages = () => createMessageStore(database.pool);
const runs = () => createRunStore(database.pool, testSealer);
const wake = ({ runId }: Run) => messages().wakeSession(runId);
const claim = ({ runId }: Run, after: number) => turns().claimSlot(runId, after);
const renew = (capacity: number) =>
  createHostStore(database.pool).renew({ hostId: 'h', name: 'h', capacity });
const unclaimed = async ({ runId }: Run) =>
  (await createAdmission(database.pool, testSealer).findUnclaimed()).filter(
    (one) => one.runId === runId,
  );

async function sessionWithMessage(): Promise<{ run: Run; messageId: string }> {
  await renew(10_000);
  const run = await scenario.session();
  return { run, messageId: await storeMessage(database.pool, run.runId) };
}

/** Starts the sandbox as its host does. */
async function startSandbox({ runId }: Run, generation: number): Promise<SandboxLease> {
  const frames = createFrameStore(database.pool);
  const lease = await frames.takeLease(runId, 'h', 60_000);
  if (lease === null) throw new Error('the lease is taken');
  const started = { runId, generation, token: lease.token };
  await frames.beginGeneration(runId, lease.token, generation);
  await turns().markStarted(started);
  return started;
}

const endMessages = ({ runId }: Run) =>
  database.pool.query(
    `update session_messages set ended_at = db_clock(), exit_code = 0
     where run_id = $1 and ended_at is null`,
    [runId],
  );

test('assigns the slot that the workflow claims afterwards', async () => {
  const { run } = await sessionWithMessage();
  expect(await wake(run)).toEqual({ hostId: 'h', generation: 1 });
  expect(await wake(run)).toBeNull();
  expect((await runs().sandboxPlan(run.runId))?.session).toMatchObject({ isClaimed: false });
  const slot = { outcome: 'assigned', hostId: 'h', generation: 1 };
  expect(await claim(run, 0)).toMatchObject(slot);
  expect(await claim(run, 0)).toMatchObject(slot);
  expect((await runs().sandboxPlan(run.runId))?.session).toMatchObject({ isClaimed: true });
  expect(await wake(run)).toBeNull();
});

test('assigns the next generation after a sandbox has ended', async () => {
  const { run } = await sessionWithMessage();
  await claim(run, 0);
  await startSandbox(run, 1);
  await endMessages(run);
  expect(await wake(run)).toBeNull();
  expect(await turns().releaseSandbox(run.runId, 1)).toBe(true);
  expect(await wake(run)).toBeNull();
  await storeMessage(database.pool, run.runId);
  expect(await wake(run)).toEqual({ hostId: 'h', generation: 2 });
  expect(await claim(run, 1)).toMatchObject({ outcome: 'assigned', generation: 2 });
});

test('says of a stored message whether the session is asleep', async () => {
  await renew(10_000);
  const run = await scenario.session();
  const store = async (n: number) => {
    const message = { runId: run.runId, clientMessageId: null, text: 'Hello.' };
    const messageId = `00000000-0000-4000-8000-${run.runId.slice(-11)}${n}`;
    return messages().store({ ...message, messageId });
  };
  expect(await store(1)).toMatchObject({ outcome: 'stored', isAsleep: true });
  expect(await store(2)).toMatchObject({ outcome: 'stored', isAsleep: true });
  await wake(run);
  expect(await store(3)).toMatchObject({ outcome: 'stored', isAsleep: false });
});

test('assigns nothing to a session that is stopped, waits or has its sandbox', async () => {
  const { run } = await sessionWithMessage();
  await runs().recordCause({ runId: run.runId, cause: 'stopped_by_api', detail: null });
  expect(await wake(run)).toBeNull();
  const { run: awake } = await sessionWithMessage();
  await claim(awake, 0);
  await startSandbox(awake, 1);
  await endMessages(awake);
  expect(await wake(awake)).toBeNull();
  expect(await runs().find(awake.runId)).toMatchObject({ hostId: 'h', holdsSlot: true });
});

test('puts the session into the queue for a slot, behind those that wait', async () => {
  const { run } = await sessionWithMessage();
  await database.pool.query('update hosts set capacity = 0');
  const first = await scenario.session();
  await storeMessage(database.pool, first.runId);
  expect(await wake(first)).toBeNull();
  await renew(1);
  expect(await wake(run)).toBeNull();
  const { assignWaiting } = createAdmission(database.pool, testSealer);
  expect(await assignWaiting()).toMatchObject([{ runId: first.runId, hostId: 'h' }]);
  expect(await claim(first, 0)).toMatchObject({ outcome: 'assigned', generation: 1 });
  expect(await claim(run, 0)).toMatchObject({ outcome: 'no_capacity' });
});

test.each(['before', 'after'])(
  'a sandbox that was started for a withdrawn message is superseded: withdrawn %s its start',
  async (when) => {
    const { run, messageId } = await sessionWithMessage();
    await wake(run);
    const withdraw = () => messages().withdraw(run.runId, messageId);
    if (when === 'before') await withdraw();
    const lease = await startSandbox(run, 1);
    if (when === 'after') await withdraw();
    expect(await unclaimed(run)).toMatchObject([{ hostId: 'h', isSession: true }]);
    expect(await claim(run, 0)).toMatchObject({ outcome: 'no_work' });
    expect(await unclaimed(run)).toEqual([]);
    expect(await runs().find(run.runId)).toMatchObject({ generation: 2, hostId: null });
    await expect(turns().claim(lease)).rejects.toThrow('lease of the log is lost');
    await storeMessage(database.pool, run.runId);
    expect(await claim(run, 0)).toMatchObject({ outcome: 'assigned', generation: 2 });
  },
);

test('a sandbox that ends before the workflow knows it is not used again', async () => {
  const { run } = await sessionWithMessage();
  await wake(run);
  await startSandbox(run, 1);
  expect(await turns().releaseSandbox(run.runId, 1)).toBe(true);
  expect(await unclaimed(run)).toEqual([]);
  expect(await claim(run, 0)).toMatchObject({ outcome: 'assigned', generation: 2 });
});

test('20 hints and claims at once assign one sandbox', async () => {
  const sessions = await Promise.all(Array.from({ length: 10 }, sessionWithMessage));
  await Promise.all(
    sessions.map(async ({ run }, n) => {
      const [hinting, claiming] = [() => wake(run), () => claim(run, 0)];
      const calls = n % 2 === 0 ? [hinting, claiming] : [claiming, hinting];
      await Promise.all([...calls, ...calls].map((call) => call()));
      expect(await claim(run, 0)).toMatchObject({ outcome: 'assigned', generation: 1 });
      expect(await unclaimed(run)).toEqual([]);
    }),
  );
});
