// A hint starts the next sandbox of a sleeping session before its workflow requests it. Postgres,
// engine and agent are real. The workflow's calls come in any order with the hint, and not at all.

import { expect, test } from 'vitest';
import { startSubject } from '../../../../../core/hosts/host-rpc.ts';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createMessageStore } from '../../../../../systems/postgres/sessions/message-store.ts';
import {
  createTurnStore,
  type TurnStore,
} from '../../../../../systems/postgres/sessions/turn-store.ts';
import type { SandboxRef } from '../../../../../workflows/shared/activities.ts';
import { linesOf } from '../../../../support/log-lines.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { follow } from '../supervisor-fixture.ts';
import { startSession } from './session-fixture.ts';

const database = useDatabase();
const turns = () => createTurnStore(database.pool);
const patiently = { timeout: 30_000 };
const two = [{ say: 'Two.' }];
const none = { keepFolders: false };

/** A session that is asleep and has a message, with its next sandbox assigned by a hint. */
async function startAsleep({ isRemoved = true, mayActOnHints, markStarted }: Given = {}) {
  const given = mayActOnHints === undefined ? {} : { mayActOnHints };
  const changed = markStarted === undefined ? {} : { markStarted };
  const session = await startSession(database.pool, given, changed);
  const { fixture, ref, process, notifyStart } = session;
  expect(await process.stopIfIdle(ref, 10_000)).toBe(true);
  await follow(process, ref);
  if (isRemoved) await process.remove(ref, none);
  const message = await session.store(two);
  const slot = await createMessageStore(database.pool).wakeSession(ref.runId);
  expect(slot).toEqual({ hostId: fixture.hostId, generation: 2 });
  const next: SandboxRef = { ...ref, generation: 2 };
  /** Resolves when the host has followed or ignored the hint. */
  const wake = async (of: SandboxRef = next): Promise<void> => {
    notifyStart(startSubject(of));
    // Waits for the work on the run, and finds nothing to stop.
    await process.interrupt({ ...of, generation: 99 }, null);
  };
  const starts = (): unknown[] =>
    linesOf(fixture.logged.join('')).flatMap(({ msg, startedBy }) =>
      msg === 'sandbox_started' ? [startedBy] : [],
    );
  return { ...session, message, next, wake, starts };
}
type Asleep = Awaited<ReturnType<typeof startAsleep>>;

interface Given extends Partial<Pick<TurnStore, 'markStarted'>> {
  /** Whether the ended sandbox is removed first. */
  isRemoved?: boolean;
  mayActOnHints?: () => boolean;
}

const recordStop = ({ fixture, ref: { runId } }: Asleep) =>
  fixture.runs.recordCause({ runId, cause: 'stopped_by_api', detail: null });

/** What the session's workflow does after the signal of the message. */
async function takeTurn({ process, ref, next, logged, message }: Asleep): Promise<void> {
  const slot = await turns().claimSlot(ref.runId, 1);
  expect(slot).toMatchObject({ outcome: 'assigned', generation: next.generation });
  expect(await process.start(next)).toBe('started');
  const turn = await process.runTurn({ ...next, messageIds: [message] }, neverAborted);
  expect(turn).toMatchObject({ outcome: 'done', more: false });
  expect((await logged('turn_end')).filter((id) => id === message)).toHaveLength(1);
}
const neverAborted = new AbortController().signal;

test('starts the sandbox, which the workflow then finds and uses', async () => {
  const session = await startAsleep();
  await session.wake();
  expect(session.process.live()).toEqual([session.next]);
  await session.wake();
  await takeTurn(session);
  expect(session.starts()).toEqual(['activity', 'hint']);
});

test('starts it beside a sandbox that has ended and is not removed yet', async () => {
  const session = await startAsleep({ isRemoved: false });
  await session.wake();
  expect(session.process.live()).toEqual([session.next]);
  // The workflow has not seen the end of the previous sandbox.
  await follow(session.process, session.ref);
  await session.process.remove(session.ref, none);
  expect(session.process.live()).toEqual([session.next]);
  await takeTurn(session);
  expect(session.starts()).toEqual(['activity', 'hint']);
});

test('begins no turn before the workflow knows the sandbox, even under the next process', async () => {
  const session = await startAsleep();
  const { fixture, process, hint, logged, store, wake } = session;
  await wake();
  expect(await hint()).toBe(0);
  await process.close();
  const next = fixture.process();
  await next.adoptExisting();
  expect(next.live()).toEqual([session.next]);
  expect(await hint()).toBe(0);
  expect(await logged('turn_end')).toHaveLength(1);
  await takeTurn({ ...session, process: next });
  await store(two);
  expect(session.starts()).toEqual(['activity', 'hint']);
});

test('follows hints of messages once the workflow has run a turn', async () => {
  const session = await startAsleep();
  await session.wake();
  await takeTurn(session);
  const message = await session.store([{ say: 'Three.' }]);
  expect(await session.hint()).toBe(1);
  await expect.poll(() => session.logged('turn_end'), patiently).toContain(message);
});

test('ignores a wrong hint, and removes nothing for it', async () => {
  const session = await startAsleep({ isRemoved: false });
  for (const generation of [1, 3, 99]) await session.wake({ ...session.next, generation });
  const { sandboxes } = session.fixture;
  expect((await sandboxes.list()).map(({ generation }) => generation)).toEqual([1]);
  expect(session.process.live()).toEqual([]);
  await takeTurn(session);
  await session.wake({ ...session.next, generation: 3 });
  expect(session.process.live()).toEqual([session.next]);
  expect(session.starts()).toEqual(['activity', 'activity']);
});

test('starts nothing while hints are not followed', async () => {
  let isAllowed = true;
  const session = await startAsleep({ mayActOnHints: () => isAllowed });
  isAllowed = false;
  await session.wake();
  expect(session.process.live()).toEqual([]);
  await takeTurn(session);
});

test('starts nothing after a stop', async () => {
  const session = await startAsleep();
  await recordStop(session);
  await session.wake();
  expect(session.process.live()).toEqual([]);
  expect(await session.process.start(session.next)).toBe('cancelled');
});

test('kills a sandbox whose session is stopped during its start', async () => {
  const [marking, isStopped] = [createDeferred<true>(), createDeferred<true>()];
  const session = await startAsleep({
    async markStarted(lease) {
      if (lease.generation > 1) {
        marking.resolve(true);
        await isStopped.promise;
      }
      return turns().markStarted(lease);
    },
  });
  const waking = session.wake();
  await marking.promise;
  await recordStop(session);
  isStopped.resolve(true);
  await waking;
  const { sandboxes } = session.fixture;
  const states = async () => (await sandboxes.list()).map(({ state }) => state);
  await expect.poll(states, patiently).toEqual(['exited']);
  expect(session.process.live()).toEqual([]);
  expect(await session.logged('turn_end')).toHaveLength(1);
});

test('a sandbox whose message is withdrawn loses its lease, and the next one starts', async () => {
  const session = await startAsleep();
  const { ref, process, message, next, wake } = session;
  await wake();
  await createMessageStore(database.pool).withdraw(ref.runId, message);
  expect(await turns().claimSlot(ref.runId, 1)).toMatchObject({ outcome: 'no_work' });
  await expect.poll(process.live, patiently).toEqual([]);
  const later = await session.store(two);
  const third = { ...next, generation: 3 };
  expect(await turns().claimSlot(ref.runId, 1)).toMatchObject({ ...{ generation: 3 } });
  expect(await process.start(third)).toBe('started');
  await process.runTurn({ ...third, messageIds: [later] }, neverAborted);
  expect(await session.logged('turn_end')).toContain(later);
});
