// Fake activities for sessions, one fixture per scenario.

import type { SessionSlot, SessionSlotClaim } from '../../core/sessions/session-slot.ts';
import { createDeferred } from '../../lib/async/deferred.ts';
import type { TurnOutcome } from '../../workflows/shared/activities.ts';
import { type FakeRun, fakeRun } from './fake-run.ts';

/** The only turn runs until it is interrupted. */
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

/** The first sandbox is removed only during the second sandbox's turn. */
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

/** The first turn never returns. */
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

/** The first host never starts the sandbox. */
export function startsOnSecondHost(): FakeRun {
  const run = asleepAfter([{ outcome: 'done', more: false }]);
  return fakeRun({
    ...run.activities,
    startSandbox: ({ generation }) =>
      generation === 1
        ? new Promise(() => undefined)
        : Promise.resolve({ outcome: 'started' as const }),
  });
}

/** The first message is assigned no slot in time; the next message gets one. */
export function noSlotAtFirst(): FakeRun {
  const run = asleepAfter([{ outcome: 'done', more: false }]);
  let hasFailed = false;
  return fakeRun({
    ...run.activities,
    claimSessionSlot: async (input): Promise<SessionSlotClaim> =>
      hasFailed ? run.activities.claimSessionSlot(input) : { outcome: 'no_capacity' },
    failTurn: async () => {
      hasFailed = true;
      return { more: true };
    },
  });
}

/** At the first attempt to put it to sleep, its host has begun another turn. */
export function busyAtFirst(): FakeRun {
  const run = asleepAfter([{ outcome: 'done', more: false }]);
  let isBusy = true;
  return fakeRun({
    ...run.activities,
    async stopSandbox(stop) {
      if (!isBusy) return run.activities.stopSandbox(stop);
      isBusy = false;
      return { outcome: stop.ifIdle === true ? 'busy' : 'stopped' };
    },
  });
}

/** The turns have these outcomes. After them the session has no work. */
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
