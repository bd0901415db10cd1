// Hints at the moments at which they must not deliver a message, with real Postgres, engine and
// agent. The database decides whose sandbox has the message; this process only asks.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { SandboxTurn } from '../../../../../activities/sandbox.ts';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createHostStore } from '../../../../../systems/postgres/hosts/host-store.ts';
import { createMessageStore } from '../../../../../systems/postgres/sessions/message-store.ts';
import {
  createTurnStore,
  type TurnStore,
} from '../../../../../systems/postgres/sessions/turn-store.ts';
import type { SupervisorDeps } from '../../../../../worker/sandbox/deps.ts';
import type { Supervisor } from '../../../../../worker/sandbox/supervisor.ts';
import type { SandboxRef } from '../../../../../workflows/shared/activities.ts';
import { testSealer } from '../../../../support/database.ts';
import { createScenario } from '../../../../support/database-records.ts';
import { script } from '../../../../support/prompts.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, type SupervisorFixture } from '../supervisor-fixture.ts';

const database = useDatabase();
const longLease = { stallTimeoutMs: 60_000, afterResultGraceMs: 15_000, leaseMs: 600_000 };

interface HintedSession {
  fixture: SupervisorFixture;
  ref: SandboxRef;
  process: Supervisor;
  /** Stores a message and returns its ID. */
  store(steps: object[]): Promise<string>;
  /** Notifies the process, and waits for the claims that it makes. Returns how many those are. */
  hint(): Promise<number>;
  runTurn(by?: Supervisor): Promise<SandboxTurn>;
  /** The messages that the log announces or whose turns have ended, in order. */
  logged(event: 'user_message' | 'turn_end'): Promise<string[]>;
}

/** A session whose first turn has ended, and a process of its host. */
async function startSession(
  given: Partial<SupervisorDeps> = {},
  changedTurns: Partial<TurnStore> = {},
): Promise<HintedSession> {
  const { pool } = database;
  const fixture = await createSupervisorFixture(pool);
  const { hostId } = fixture;
  await createHostStore(pool).renew({ hostId, name: 'test', capacity: 1_000 });
  const scenario = await createScenario(pool, testSealer, { flow: { runner: hostId } });
  const { runId } = await scenario.session();
  const ref = { runId, generation: 1 };
  const turns = createTurnStore(pool);
  const listeners = new Set<() => void>();
  const claims: Promise<unknown>[] = [];
  const process = fixture.process({
    notifications: {
      subscribeBestEffort(_name, listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    turns: {
      ...turns,
      ...changedTurns,
      claim(lease) {
        const claimed = turns.claim(lease);
        claims.push(claimed.catch(() => undefined));
        return claimed;
      },
    },
    ...given,
  });
  const session: HintedSession = {
    ...{ fixture, ref, process },
    async store(steps) {
      const message = { runId, messageId: randomUUID(), clientMessageId: null };
      await createMessageStore(pool).store({ ...message, text: script(steps) });
      return message.messageId;
    },
    async hint() {
      const before = claims.length;
      for (const listener of listeners) listener();
      await Promise.all(claims.slice(before));
      return claims.length - before;
    },
    runTurn: (by = process) => by.runTurn(ref, new AbortController().signal),
    async logged(event) {
      const frames = (await fixture.log(ref)).filter((frame) => frame.event === event);
      return frames.map(({ data }) => (JSON.parse(data) as { messageId: string }).messageId);
    },
  };
  await session.store([{ say: 'One.' }]);
  await turns.claimSlot(runId, 0);
  await process.start(ref);
  await session.runTurn();
  return session;
}

const two = [{ say: 'Two.' }];
const done = { outcome: 'done', more: false };

test('delivers a message, and the activity that comes later finds its turn ended', async () => {
  const { store, hint, runTurn, logged } = await startSession();
  const message = await store(two);
  expect(await hint()).toBe(1);
  await expect.poll(() => logged('turn_end')).toContain(message);
  expect(await runTurn()).toMatchObject(done);
  expect(await logged('user_message')).toEqual(await logged('turn_end'));
  expect(await logged('turn_end')).toHaveLength(2);
});

test('claims nothing while hints are not to be followed', async () => {
  const { store, hint, runTurn, logged } = await startSession({ mayActOnHints: () => false });
  const message = await store(two);
  expect(await hint()).toBe(0);
  expect(await runTurn()).toMatchObject(done);
  expect(await logged('turn_end')).toContain(message);
});

test('delivers nothing to a sandbox that a later one supersedes', async () => {
  const { ref, store, hint, runTurn, logged } = await startSession();
  await store(two);
  await database.pool.query('update runs set generation = 2 where id = $1', [ref.runId]);
  expect(await hint()).toBe(1);
  expect(await logged('user_message')).toHaveLength(1);
  expect(await runTurn()).toEqual({ outcome: 'sandbox_ended' });
});

test('delivers nothing after another process has taken the sandbox over', async () => {
  const { fixture, store, hint, runTurn, logged } = await startSession({ times: longLease });
  const second = fixture.process();
  await second.adoptExisting();
  const message = await store(two);
  expect(await hint()).toBe(1);
  expect(await logged('user_message')).toHaveLength(1);
  await runTurn(second);
  expect(await logged('turn_end')).toContain(message);
});

test('delivers nothing once a cause of the end is recorded', async () => {
  const { fixture, ref, store, hint, logged } = await startSession();
  await store(two);
  await fixture.runs.recordCause({ runId: ref.runId, cause: 'stopped_by_api', detail: null });
  expect(await hint()).toBe(1);
  expect(await logged('user_message')).toHaveLength(1);
});

test('begins a turn that sleep does not cut off, also under the next process', async () => {
  const { fixture, ref, process, store, hint, runTurn, logged } = await startSession();
  const message = await store([{ waitForFile: '/workspace/go' }, { say: 'Two.' }]);
  expect(await hint()).toBe(1);
  expect(await process.stopIfIdle(ref, 0)).toBe(false);
  await process.close();
  const next = fixture.process();
  await next.adoptExisting();
  expect(await next.stopIfIdle(ref, 0)).toBe(false);
  await fixture.touch(ref, 'go');
  expect(await runTurn(next)).toMatchObject(done);
  expect(await logged('turn_end')).toContain(message);
  expect(await next.stopIfIdle(ref, 0)).toBe(true);
});

test('begins no turn while the sandbox goes to sleep: the next one gets the message', async () => {
  const turns = createTurnStore(database.pool);
  const asked = createDeferred<true>();
  const answer = createDeferred<true>();
  async function hasWork(runId: string): Promise<boolean> {
    const found = await turns.hasWork(runId);
    asked.resolve(true);
    await answer.promise;
    return found;
  }
  const { ref, process, store, hint, logged } = await startSession({}, { hasWork });
  const stopping = process.stopIfIdle(ref, 0);
  await asked.promise;
  await store(two);
  expect(await hint()).toBe(0);
  answer.resolve(true);
  expect(await stopping).toBe(true);
  expect(await hint()).toBe(0);
  expect(await logged('user_message')).toHaveLength(1);
  expect(await turns.claimSlot(ref.runId, 1)).toMatchObject({ outcome: 'assigned', generation: 2 });
});
