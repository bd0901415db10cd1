// Sessions in a world of their own, each with what happens to it there.

import { ApplicationFailure } from '@temporalio/activity';
import { createDeferred } from '../../lib/async/deferred.ts';
import {
  failureTypes,
  type SessionSlot,
  type TurnOutcome,
} from '../../workflows/shared/activities.ts';
import { type FakeRun, fakeRun } from './fake-run.ts';

/** Its only turn goes on until it is interrupted. */
export function endedByInterrupt(): FakeRun {
  const interrupted = createDeferred<true>();
  const run = asleepAfter([{ outcome: 'done', more: false }]);
  return fakeRun({
    ...run.activities,
    async runTurn(ref) {
      await interrupted.promise;
      return run.activities.runTurn(ref);
    },
    interruptTurn: async () => interrupted.resolve(true),
  });
}

/** What is left of the first sandbox is removed when the next one has done its turn. */
export function removedLate(): FakeRun {
  const next = createDeferred<true>();
  const run = asleepAfter([{ outcome: 'reconfigure' }, { outcome: 'done', more: false }]);
  const { runTurn } = run.activities;
  return fakeRun({
    ...run.activities,
    runTurn: async (ref) => {
      if (ref.generation === 2) next.resolve(true);
      return runTurn(ref);
    },
    removeSandbox: async () => void (await next.promise),
  });
}

/** The host of the first turn does not answer any more. */
export function firstTurnLost(): FakeRun {
  let turns = 0;
  return fakeRun({
    claimSessionSlot: async ({ after }): Promise<SessionSlot> =>
      turns > 1
        ? { outcome: 'no_work' }
        : { outcome: 'assigned', hostId: 'host-1', generation: after + 1 },
    runTurn: () => {
      turns += 1;
      if (turns === 1) return new Promise<TurnOutcome>(() => undefined);
      return Promise.resolve({ outcome: 'done', more: false });
    },
    getSessionIdleness: async () => ({ idleForMs: 1_000_000, unattendedForMs: null }),
  });
}

/** Every host is full for the first message, and none is for the second, which waited behind it. */
export function withoutPlaceAtFirst(): FakeRun {
  let asked = 0;
  return fakeRun({
    claimSessionSlot: async ({ after }): Promise<SessionSlot> => {
      asked += 1;
      if (asked === 1) throw ApplicationFailure.nonRetryable('full', failureTypes.noCapacity);
      if (asked > 2) return { outcome: 'no_work' };
      return { outcome: 'assigned', hostId: 'host-1', generation: after + 1 };
    },
    failTurn: async () => ({ more: true }),
    getSessionIdleness: async () => ({ idleForMs: 1_000_000, unattendedForMs: null }),
  });
}

/** A session whose turns go like this, and that has nothing more to do after them. */
export function asleepAfter(outcomes: TurnOutcome[]): FakeRun {
  let left = [...outcomes];
  let generation = 0;
  return fakeRun({
    claimSessionSlot: async (): Promise<SessionSlot> => {
      if (left.length === 0) return { outcome: 'no_work' };
      generation += 1;
      return { outcome: 'assigned', hostId: 'host-1', generation };
    },
    runTurn: async () => {
      const [next = { outcome: 'done', more: false }, ...rest] = left;
      left = rest;
      return next;
    },
    getSessionIdleness: async () => ({ idleForMs: 1_000_000, unattendedForMs: null }),
  });
}
