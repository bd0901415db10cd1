// Hints and activities begin turns in many orders while messages are stored, while the session is
// asked whether it may sleep, and while it is stopped.

import { describe, expect, test } from 'vitest';
import { createSession, settled } from './simulated-session.ts';

/** A pseudorandom sequence with a fixed seed. */
function sequenceFrom(seed: number): (below: number) => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % Math.max(1, below);
  };
}

interface Schedule {
  hasHints: boolean;
  hasSignals: boolean;
}

/**
 * Three messages are stored, hinted and signalled in a random order, mixed with the steps of
 * queries and turns. With signals, some hints are lost, the workflow runs an activity for a signal,
 * and at a random moment it asks whether the session may sleep.
 */
async function play(seed: number, { hasHints, hasSignals }: Schedule): Promise<void> {
  const random = sequenceFrom(seed);
  const session = createSession();
  const { runner, stored, ended, steps, startedBy } = session;
  const failures: unknown[] = [];
  const events: (() => void)[] = [];
  /** All signalled messages; `signalled` has those that no activity has got yet. */
  const known: string[] = [];
  let signalled: string[] = [];
  let isPending = false;
  let isAsleep = false;
  let workflow: Promise<void> | null = null;
  let asksAt = hasSignals ? random(25) : Number.POSITIVE_INFINITY;

  for (const message of ['a', 'b', 'c']) {
    events.push(() => {
      stored.push(message);
      const times = hasSignals ? random(3) : 1;
      if (hasHints) for (let n = 0; n < times; n += 1) events.push(runner.hint);
      if (hasSignals) events.push(() => receive(message));
    });
  }
  function receive(message: string): void {
    known.push(message);
    signalled.push(message);
    isPending = true;
  }
  function act(work: () => Promise<void>): void {
    isPending = false;
    workflow = work()
      .catch((error: unknown) => void failures.push(error))
      .finally(() => (workflow = null));
  }
  async function runActivity(): Promise<void> {
    const before = [...known];
    const messages = signalled;
    signalled = [];
    const turn = await runner.run(messages);
    if (turn.outcome !== 'done') throw new Error('the sandbox has not ended');
    if (!turn.more) expect(ended).toEqual(expect.arrayContaining(before));
    isPending ||= turn.more;
  }
  async function sleepIfIdle(): Promise<void> {
    isAsleep = await runner.refuseHintsIfIdle();
    if (isAsleep) expect(session.isRunning(), 'a turn is cut off').toBe(false);
    else isPending = true;
  }

  for (let at = 0; ; at += 1) {
    if (isAsleep) break;
    if (workflow === null && isPending) act(runActivity);
    else if (workflow === null && at >= asksAt) {
      asksAt = Number.POSITIVE_INFINITY;
      act(sleepIfIdle);
    }
    const nth = random(events.length + steps.length);
    if (nth < events.length) events.splice(nth, 1)[0]?.();
    else await session.proceed(nth - events.length);
    await settled();
    if (events.length + steps.length === 0 && workflow === null && !isPending) break;
  }
  const turns = startedBy.length;
  while (events.length > 0) events.shift()?.();
  await session.finish();
  expect(failures).toEqual([]);
  expect(isAsleep ? startedBy.length : turns).toBe(turns);
  expect(isAsleep ? stored.slice(0, ended.length) : stored).toEqual(ended);
}

/**
 * Three messages are stored, hinted and passed to activities while the run is stopped: first the
 * cause of its end is recorded, then its sandbox is stopped.
 */
async function playStop(seed: number): Promise<void> {
  const random = sequenceFrom(seed);
  const session = createSession();
  const { runner, stored, ended, lookedBy, steps } = session;
  const looksByHint = (): number => lookedBy.filter((by) => by === 'hint').length;
  const activities: Promise<unknown>[] = [];
  let looksAtStop = 0;
  const events = ['a', 'b', 'c'].map((message) => () => {
    stored.push(message);
    events.push(runner.hint, () => activities.push(runner.run([message])));
  });
  events.push(() => {
    session.recordCause();
    events.push(() => {
      runner.refuseHints();
      looksAtStop = looksByHint();
    });
  });
  while (events.length + steps.length > 0) {
    const nth = random(events.length + steps.length);
    if (nth < events.length) events.splice(nth, 1)[0]?.();
    else await session.proceed(nth - events.length);
    await settled();
  }
  expect(looksByHint(), 'a hint is followed after the stop').toBe(looksAtStop);
  expect(ended).toEqual(stored.slice(0, ended.length));
  for (const { status } of await Promise.allSettled(activities)) expect(status).toBe('fulfilled');
}

/** Reports the seed of an order that fails. */
async function playAll(playOne: (seed: number) => Promise<void>): Promise<void> {
  for (let seed = 1; seed <= 400; seed += 1) {
    await playOne(seed).catch((cause: unknown) => {
      throw new Error(`with the seed ${seed}`, { cause });
    });
  }
}

describe('in many random orders', () => {
  test.each([
    ['hints and signals', { hasHints: true, hasSignals: true }],
    ['signals alone', { hasHints: false, hasSignals: true }],
    ['hints alone', { hasHints: true, hasSignals: false }],
  ])('%s run each message once, and no turn is cut off by sleep', async (_which, schedule) => {
    await playAll((seed) => play(seed, schedule));
  });

  test('a stop runs no message twice, and no hint is followed afterwards', async () => {
    await playAll(playStop);
  });
});
