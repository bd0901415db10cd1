// A message is either withdrawn or delivered. The second statement waits for the first one and sees
// its effect.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import type { SandboxLease } from '../../../../systems/postgres/log/lease.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { storeMessage, untilWaiting } from './session-turns.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const turns = () => createTurnStore(database.pool);
const withdraw = ({ runId }: Run, messageId: string) =>
  createMessageStore(database.pool).withdraw(runId, messageId);
const send = ({ runId }: Run) =>
  createMessageStore(database.pool).store({
    ...{ runId, messageId: randomUUID(), clientMessageId: null, text: 'Hello.' },
  });

interface Waiting {
  run: Run;
  lease: SandboxLease;
  messageId: string;
}

/** A session with a sandbox that has not asked for its message. */
async function sessionWithMessage(): Promise<Waiting> {
  const run = await scenario.session();
  const { runId } = run;
  const messageId = await storeMessage(database.pool, runId);
  await createHostStore(database.pool).renew({ hostId: 'h', name: 'h', capacity: 10_000 });
  const slot = await turns().claimSlot(runId, 0);
  const lease = await createFrameStore(database.pool).takeLease(runId, 'h', 60_000);
  if (slot.outcome !== 'assigned' || lease === null) throw new Error('no sandbox');
  return { run, messageId, lease: { runId, generation: slot.generation, token: lease.token } };
}

/** Runs a statement in a transaction, and before the commit another one that must wait for it. */
async function beforeCommit<T>(
  statement: [string, unknown[]],
  waits: () => Promise<T>,
): Promise<T> {
  const client = await database.pool.connect();
  try {
    await client.query('begin');
    await client.query(...statement);
    const waiting = waits();
    await untilWaiting(database.pool);
    await client.query('commit');
    return await waiting;
  } finally {
    client.release();
  }
}

const framesOf = async ({ runId }: Run): Promise<string[]> => {
  const text = `select event from frames where run_id = $1 and event like '%message%' order by seq`;
  const { rows } = await database.pool.query<{ event: string }>(text, [runId]);
  return rows.map(({ event }) => event);
};

test('a message that is being delivered is not withdrawn', async () => {
  const { run, lease, messageId } = await sessionWithMessage();
  const claim = 'select outcome from claim_turn($1, $2, $3, 2)';
  const values = [run.runId, lease.generation, lease.token];
  const outcome = await beforeCommit([claim, values], () => withdraw(run, messageId));
  expect(outcome).toBe('not_queued');
  expect(await framesOf(run)).toEqual(['user_message']);
  expect(await turns().claim(lease)).toMatchObject({ outcome: 'turn', messageId });
});

test('a message that is being withdrawn is not delivered', async () => {
  const { run, lease, messageId } = await sessionWithMessage();
  const statement = 'select withdraw_message($1, $2)';
  const claimed = await beforeCommit([statement, [run.runId, messageId]], () =>
    turns().claim(lease),
  );
  expect(claimed).toEqual({ outcome: 'none' });
  expect(await framesOf(run)).toEqual(['message_withdrawn']);
});

test('60 messages at once: each is withdrawn or delivered, and never both', async () => {
  const waiting = await Promise.all(Array.from({ length: 60 }, sessionWithMessage));
  await Promise.all(
    waiting.map(async ({ run, lease, messageId }, n) => {
      const claiming = () => turns().claim(lease);
      const withdrawing = () => withdraw(run, messageId);
      const [claimed, withdrawn] = await (n % 2 === 0
        ? Promise.all([claiming(), withdrawing()])
        : Promise.all([withdrawing(), claiming()]).then(([a, b]) => [b, a] as const));
      const isDelivered = claimed.outcome === 'turn';
      expect([claimed.outcome, withdrawn]).toEqual(
        isDelivered ? ['turn', 'not_queued'] : ['none', 'withdrawn'],
      );
      const announced = isDelivered ? 'user_message' : 'message_withdrawn';
      expect(await framesOf(run)).toEqual([announced]);
    }),
  );
});

test('a message that is stored while the last one is withdrawn has a slot', async () => {
  const rounds = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const run = await scenario.session();
      const messageId = await storeMessage(database.pool, run.runId);
      const withdrawing = () => withdraw(run, messageId);
      const storing = () => send(run);
      const both = n % 2 === 0 ? [withdrawing(), storing()] : [storing(), withdrawing()];
      return Promise.all(both);
    }),
  );
  for (const answers of rounds) {
    expect(answers).toContainEqual('withdrawn');
    expect(answers).toContainEqual(expect.objectContaining({ outcome: 'stored' }));
  }
  const text = `select holds_slot, count(*)::int as n from runs where project_id = $1 group by 1`;
  const { rows } = await database.pool.query(text, [scenario.projectId]);
  expect(rows).toEqual([{ holds_slot: true, n: 60 }]);
});

test('a slot that is released for a withdrawn message is claimed by the next one', async () => {
  const run = await scenario.session();
  const messageId = await storeMessage(database.pool, run.runId);
  const statement = 'select withdraw_message($1, $2)';
  const stored = await beforeCommit([statement, [run.runId, messageId]], () => send(run));
  expect(stored).toMatchObject({ outcome: 'stored', position: 0 });
  const text = 'select from runs where id = $1 and holds_slot';
  expect((await database.pool.query(text, [run.runId])).rowCount).toBe(1);
});

test('a session that waits for a host without a message is notified, and stops waiting', async () => {
  await database.pool.query('update hosts set capacity = 0');
  const admission = createAdmission(database.pool, testSealer);
  const run = await scenario.session();
  const messageId = await storeMessage(database.pool, run.runId);
  expect(await turns().claimSlot(run.runId, 0)).toMatchObject({ outcome: 'no_capacity' });
  const notified = async () =>
    (await admission.findUnclaimed()).filter(({ runId }) => runId === run.runId);
  expect(await notified()).toEqual([]);
  expect(await withdraw(run, messageId)).toBe('withdrawn');
  expect(await notified()).toMatchObject([{ workflowId: run.workflowId, hostId: null }]);
  expect(await turns().claimSlot(run.runId, 0)).toMatchObject({ outcome: 'no_work' });
  expect(await notified()).toEqual([]);
  const text = 'select from runs where id = $1 and holds_slot';
  expect((await database.pool.query(text, [run.runId])).rowCount).toBe(0);
});
