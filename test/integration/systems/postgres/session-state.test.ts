// A session's log announces, after a sandbox was lost, the state that the next one starts from, and
// messages that are delivered again.

import { expect, test } from 'vitest';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import type { SandboxLease } from '../../../../systems/postgres/log/lease.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { expectDescribed } from '../../../support/expect-described.ts';
import { snapshotOf } from '../../../support/snapshot-of.ts';
import { giveMessage, storeMessage } from './session-turns.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const turns = () => createTurnStore(database.pool);

interface LoggedEvent {
  event: string;
  [field: string]: unknown;
}

async function framesOf(runId: string, ...events: string[]): Promise<LoggedEvent[]> {
  const text =
    'select seq::text as id, event, data from frames where run_id = $1 and event = any($2) order by seq';
  const { rows } = await database.pool.query<{ id: string; event: string; data: string }>(text, [
    runId,
    events,
  ]);
  for (const row of rows) expectDescribed(row);
  return rows.map(({ event, data }) => ({ event, ...(JSON.parse(data) as object) }));
}

let spoolEnd = 0;

/** The agent finishes its turn. */
async function endTurn(lease: SandboxLease, messageId: string): Promise<void> {
  const turnEnd = { messageId, exitCode: 0, reply: 'Hi.', usage: null, costUsd: null } as const;
  const range = { fromOffset: spoolEnd, toOffset: spoolEnd + 1 };
  const facts = { agentStatus: 'idle' } as const;
  const batch = { ...lease, ...range, frames: [], facts };
  const chat = { startedMessage: messageId, turnEnd };
  const stored = await createFrameStore(database.pool).append(batch, chat);
  expect(stored.outcome).toBe('stored');
  spoolEnd += 1;
}

async function save(lease: SandboxLease): Promise<void> {
  const { at } = await turns().beginSave(lease.runId);
  const state = { at, workspace: snapshotOf([]), transcript: null };
  expect(await turns().saveState(lease, state)).toBe('listed');
}

/** Its host is lost: the next sandbox starts from the saved state. */
async function nextSandbox({ runId, generation }: SandboxLease): Promise<SandboxLease> {
  const store = createFrameStore(database.pool);
  await turns().releaseSandbox(runId, generation);
  await turns().claimSlot(runId, generation);
  const lease = await store.takeLease(runId, 'h-1', 60_000);
  const next = { runId, generation: generation + 1, token: lease?.token ?? 0 };
  expect(await store.beginGeneration(runId, next.token, next.generation)).toBe(true);
  spoolEnd = 0;
  await turns().markStarted(next);
  return next;
}

/** A session whose first message was delivered to its first sandbox. */
async function sessionInTurn() {
  spoolEnd = 0;
  const { runId } = await scenario.session();
  const messageId = await storeMessage(database.pool, runId);
  const lease = await giveMessage(database.pool, runId);
  return { runId, messageId, lease };
}

async function nextTurn(lease: SandboxLease): Promise<string> {
  const messageId = await storeMessage(database.pool, lease.runId);
  expect(await turns().claim(lease)).toMatchObject({ outcome: 'turn', messageId });
  return messageId;
}

const hasUnsavedTurn = async (runId: string) =>
  (await createRunStore(database.pool, testSealer).sandboxPlan(runId))?.session?.hasUnsavedTurn;

const rollBacks = (runId: string) => framesOf(runId, 'session_ready', 'state_rolled_back');

test('a lost turn whose state was saved is not announced', async () => {
  const { runId, messageId, lease } = await sessionInTurn();
  expect(await hasUnsavedTurn(runId)).toBe(false);
  await endTurn(lease, messageId);
  expect(await hasUnsavedTurn(runId)).toBe(true);
  await save(lease);
  expect(await hasUnsavedTurn(runId)).toBe(false);
  await storeMessage(database.pool, runId);
  await nextSandbox(lease);
  expect(await rollBacks(runId)).toMatchObject([{ event: 'session_ready' }]);
});

test('the next sandbox announces the last saved turn if a later one has ended', async () => {
  const { runId, messageId: saved, lease } = await sessionInTurn();
  await endTurn(lease, saved);
  await save(lease);
  await endTurn(lease, await nextTurn(lease));
  await storeMessage(database.pool, runId);
  const second = await nextSandbox(lease);
  const rollBack = { event: 'state_rolled_back', messageId: saved };
  expect(await rollBacks(runId)).toMatchObject([{ event: 'session_ready' }, rollBack]);

  // The state that the second sandbox saves is the state of the session from then on.
  await endTurn(second, (await turns().claim(second).then(messageOf)) ?? '');
  await save(second);
  await storeMessage(database.pool, runId);
  await nextSandbox(second);
  expect(await rollBacks(runId)).toHaveLength(3);
});

test('without any saved turn, the announcement names none', async () => {
  const { runId, messageId, lease } = await sessionInTurn();
  await endTurn(lease, messageId);
  await storeMessage(database.pool, runId);
  await nextSandbox(lease);
  expect((await rollBacks(runId))[1]).toEqual({ event: 'state_rolled_back', messageId: null });
});

test('a turn that is interrupted by the loss is announced as a further attempt only', async () => {
  const { runId, messageId, lease } = await sessionInTurn();
  const second = await nextSandbox(lease);
  expect(await turns().claim(second)).toMatchObject({
    ...{ outcome: 'turn', messageId, waitedMs: null },
    announcedFrame: { event: 'user_message', channel: 'chat' },
  });
  expect(await turns().claim(second)).toMatchObject({ messageId, announcedFrame: null });
  expect(await framesOf(runId, 'user_message', 'state_rolled_back')).toEqual([
    { event: 'user_message', messageId, text: 'Hello.' },
    { event: 'user_message', messageId, text: 'Hello.', attempt: 2 },
  ]);
});

test('a turn that the service failed is not announced as rolled back', async () => {
  const { runId, messageId, lease } = await sessionInTurn();
  await turns().failCurrentTurn(lease, messageId, 'stalled');
  await save(lease);
  await turns().releaseSandbox(runId, lease.generation);
  await storeMessage(database.pool, runId);
  await nextSandbox(lease);
  expect(await rollBacks(runId)).toMatchObject([{ event: 'session_ready' }]);
});

const messageOf = (claimed: object): string | undefined =>
  'messageId' in claimed ? String(claimed.messageId) : undefined;
