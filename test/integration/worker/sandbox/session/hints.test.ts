// Hints at moments when they must not deliver a message, with real Postgres, engine and agent. The
// database alone decides whose sandbox gets the message.

import { expect, test } from 'vitest';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createTurnStore } from '../../../../../systems/postgres/sessions/turn-store.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { startSession } from './session-fixture.ts';

const database = useDatabase();
const longLease = { stallTimeoutMs: 60_000, afterResultGraceMs: 15_000, leaseMs: 600_000 };

const two = [{ say: 'Two.' }];
const done = { outcome: 'done', more: false };

test('delivers a message, and the activity that comes later finds its turn ended', async () => {
  const { store, hint, runTurn, logged } = await startSession(database.pool);
  const message = await store(two);
  expect(await hint()).toBe(1);
  await expect.poll(() => logged('turn_end')).toContain(message);
  expect(await runTurn()).toMatchObject(done);
  expect(await logged('user_message')).toEqual(await logged('turn_end'));
  expect(await logged('turn_end')).toHaveLength(2);
});

test('claims nothing while hints are not followed', async () => {
  const { store, hint, runTurn, logged } = await startSession(database.pool, {
    mayActOnHints: () => false,
  });
  const message = await store(two);
  expect(await hint()).toBe(0);
  expect(await runTurn()).toMatchObject(done);
  expect(await logged('turn_end')).toContain(message);
});

test('delivers nothing to a sandbox that a later one supersedes', async () => {
  const { ref, store, hint, runTurn, logged } = await startSession(database.pool);
  await store(two);
  await database.pool.query('update runs set generation = 2 where id = $1', [ref.runId]);
  expect(await hint()).toBe(1);
  expect(await logged('user_message')).toHaveLength(1);
  expect(await runTurn()).toEqual({ outcome: 'sandbox_ended' });
});

test('delivers nothing after another process has taken the sandbox over', async () => {
  const { fixture, store, hint, runTurn, logged } = await startSession(database.pool, {
    times: longLease,
  });
  const second = fixture.process();
  await second.adoptExisting();
  const message = await store(two);
  expect(await hint()).toBe(1);
  expect(await logged('user_message')).toHaveLength(1);
  await runTurn(second);
  expect(await logged('turn_end')).toContain(message);
});

test('delivers nothing once a cause of the end is recorded', async () => {
  const { fixture, ref, store, hint, logged } = await startSession(database.pool);
  await store(two);
  await fixture.runs.recordCause({ runId: ref.runId, cause: 'stopped_by_api', detail: null });
  expect(await hint()).toBe(1);
  expect(await logged('user_message')).toHaveLength(1);
});

test('begins a turn that sleep does not interrupt, even under the next process', async () => {
  const { fixture, ref, process, store, hint, runTurn, logged } = await startSession(database.pool);
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
  const { ref, process, store, hint, logged } = await startSession(database.pool, {}, { hasWork });
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
