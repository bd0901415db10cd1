// A sandbox is stopped at each step of a turn that a hint has begun. Its session continues in
// another sandbox, which gets the message unless its turn has ended.

import { expect, test } from 'vitest';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import {
  createTurnStore,
  type TurnStore,
} from '../../../../../systems/postgres/sessions/turn-store.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { follow } from '../supervisor-fixture.ts';
import { startSession } from './session-fixture.ts';

const database = useDatabase();

type Step = 'claim' | 'answer' | 'look';

/** A turn waits at this step until it is opened. Resolves `passed` when its query is answered. */
function createBarrier(step: Step) {
  const [reached, opened, passed] = [
    createDeferred<true>(),
    createDeferred<true>(),
    createDeferred<true>(),
  ];
  return { step, reached, opened, passed };
}

/** The queries of turns, which wait at the barrier once there is one. */
function delayedTurns() {
  const store = createTurnStore(database.pool);
  let barrier: ReturnType<typeof createBarrier> | null = null;
  async function wait(step: Step): Promise<void> {
    if (barrier?.step !== step) return;
    barrier.reached.resolve(true);
    await barrier.opened.promise;
  }
  const turns: Partial<TurnStore> = {
    async claim(lease) {
      await wait('claim');
      const claimed = await store.claim(lease);
      await wait('answer');
      barrier?.passed.resolve(true);
      return claimed;
    },
    async findNext(runId) {
      await wait('look');
      const next = await store.findNext(runId);
      barrier?.passed.resolve(true);
      return next;
    },
  };
  return {
    turns,
    waitAt(step: Step) {
      barrier = createBarrier(step);
      return barrier;
    },
  };
}

test.each<[string, Step, { attempts: number }]>([
  ['before its claim', 'claim', { attempts: 2 }],
  ['before the answer to its claim', 'answer', { attempts: 2 }],
  ['before the look after its turn', 'look', { attempts: 1 }],
])(
  'a hint whose sandbox ends %s loses no message and runs it once',
  { timeout: 120_000 },
  async (_when, step, expected) => {
    const { turns, waitAt } = delayedTurns();
    const session = await startSession(database.pool, {}, turns);
    const { fixture, ref, process, store, notify, hint, logged } = session;
    const message = await store([{ say: 'Two.' }]);
    const { reached, opened, passed } = waitAt(step);
    notify();
    await reached.promise;
    await process.stop(ref, 10_000);
    await follow(process, ref);
    expect(await hint()).toBe(0);
    opened.resolve(true);
    await passed.promise;

    const slot = await createTurnStore(database.pool).claimSlot(ref.runId, ref.generation);
    if (slot.outcome === 'assigned') {
      const next = { runId: ref.runId, generation: slot.generation };
      await process.start(next);
      await process.runTurn(next, new AbortController().signal);
    }
    const ends = (await fixture.log(ref)).filter(({ event }) => event === 'turn_end');
    expect(ends.map(({ data }) => JSON.parse(data))).toMatchObject([
      { exitCode: 0 },
      { exitCode: 0, messageId: message },
    ]);
    const announced = (await logged('user_message')).filter((id) => id === message);
    expect(announced).toHaveLength(expected.attempts);
  },
);
