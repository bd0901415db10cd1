import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createPauseState } from '../../../../../worker/sandbox/pause-state.ts';
import { createIdlePauser } from '../../../../../worker/sandbox/session/idle-pauser.ts';

const logger = pino({ enabled: false });

interface PauserState {
  refusals?: number;
  engineReady?: Promise<unknown>;
  unpause?: () => Promise<void>;
  isHeld?: () => Promise<boolean>;
  mayPause?: () => boolean;
}

/**
 * A pauser with an engine that fails the first `refusals` pauses, and responds only after
 * `engineReady`.
 */
function pauserWith({
  refusals = 0,
  engineReady,
  unpause = async () => undefined,
  ...overrides
}: PauserState) {
  const calls: string[] = [];
  let left = refusals;
  const sandboxes = {
    async pause(): Promise<void> {
      calls.push('pause');
      await engineReady;
      if ((left -= 1) >= 0) throw new Error('unable to freeze');
    },
    async unpause(): Promise<void> {
      calls.push('unpause');
      await unpause();
    },
  };
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const answers = { mayPause: () => true, isHeld: async () => true, ...overrides };
  const pause = createPauseState();
  const of = { containerId: 'container-1', pause, afterMs: 20, ...answers };
  const pauser = createIdlePauser({ sandboxes, logger }, of, end.signal);
  const isPaused = () => !pause.pauseEnd().aborted;
  return { pauser, calls, end, isPaused };
}

test('a pause is retried if the engine fails, and counts only when it has succeeded', async () => {
  const engine = createDeferred<true>();
  const { pauser, calls, isPaused } = pauserWith({ refusals: 2, engineReady: engine.promise });
  pauser.markIdle();
  await expect.poll(() => calls).toEqual(['pause']);
  expect(isPaused()).toBe(false);
  engine.resolve(true);
  await expect.poll(() => calls).toEqual(['pause', 'pause', 'pause']);
  await expect.poll(isPaused).toBe(true);
});

test('a pause ends before the engine is called, which may unpause without an answer', async () => {
  const { pauser, calls, isPaused, end } = pauserWith({
    unpause: () => Promise.reject(new Error('no answer')),
  });
  pauser.markIdle();
  await expect.poll(isPaused).toBe(true);
  pauser.resume().catch(() => undefined); // retried until the end
  await expect.poll(() => calls).toContain('unpause');
  expect(isPaused()).toBe(false);
  end.abort();
});

test('a sandbox that was resumed meanwhile is not paused', async () => {
  const engine = createDeferred<true>();
  const { pauser, calls } = pauserWith({ refusals: 1, engineReady: engine.promise });
  pauser.markIdle();
  await expect.poll(() => calls).toEqual(['pause']);
  const resuming = pauser.resume();
  engine.resolve(true);
  await resuming;
  await sleep(150);
  expect(calls).toEqual(['pause', 'unpause']);
});

test('a sandbox is not paused if its lease was lost, or if it was resumed during the check of the lease', async () => {
  const leaseCheck = createDeferred<true>();
  const { pauser, calls } = pauserWith({ isHeld: () => leaseCheck.promise.then(() => false) });
  const other = pauserWith({ isHeld: () => leaseCheck.promise });
  pauser.markIdle();
  other.pauser.markIdle();
  await sleep(100);
  const resuming = other.pauser.resume();
  leaseCheck.resolve(true);
  await resuming;
  await sleep(100);
  expect(calls).toEqual([]);
  expect(other.calls).toEqual(['unpause']);
});

/** A check of a held lease, answered by the test. */
function openLeaseCheck() {
  const asked = createDeferred<true>();
  const answer = createDeferred<true>();
  const isHeld = (): Promise<boolean> => {
    asked.resolve(true);
    return answer.promise;
  };
  return { isHeld, asked: asked.promise, answer: () => answer.resolve(true) };
}

test('a sandbox that became idle again during the check of the lease is paused later', async () => {
  const { isHeld, asked, answer } = openLeaseCheck();
  const { pauser, calls } = pauserWith({ isHeld });
  pauser.markIdle();
  await asked;
  const resuming = pauser.resume();
  pauser.markIdle();
  answer();
  await resuming;
  await expect.poll(() => calls).toContain('pause');
  expect(calls).toEqual(['unpause', 'pause']);
});

test('a sandbox that may not be paused after the check of the lease is paused later', async () => {
  const { isHeld, asked, answer } = openLeaseCheck();
  let mayPause = true;
  const { pauser, calls } = pauserWith({ isHeld, mayPause: () => mayPause });
  pauser.markIdle();
  await asked;
  mayPause = false;
  answer();
  await sleep(100);
  expect(calls).toEqual([]);
  mayPause = true;
  await expect.poll(() => calls).toEqual(['pause']);
});

test('a pause during which its host was fenced does not count, and is repeated later', async () => {
  const engine = createDeferred<true>();
  let isFenced = false;
  const { pauser, calls, isPaused } = pauserWith({
    engineReady: engine.promise,
    mayPause: () => !isFenced,
  });
  pauser.markIdle();
  await expect.poll(() => calls).toEqual(['pause']);
  isFenced = true;
  engine.resolve(true);
  await sleep(100);
  expect([calls, isPaused()]).toEqual([['pause'], false]);
  isFenced = false;
  await expect.poll(isPaused).toBe(true);
  expect(calls).toEqual(['pause', 'pause']);
});

test('a running sandbox can be resumed after its end, a paused one cannot', async () => {
  const running = pauserWith({});
  await running.pauser.resume();
  running.end.abort();
  await running.pauser.resume();
  expect(running.calls).toEqual(['unpause']);
  const paused = pauserWith({});
  paused.end.abort();
  await expect(paused.pauser.resume()).rejects.toThrow();
});
