import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createIdlePauser } from '../../../../../worker/sandbox/session/idle-pauser.ts';

const logger = pino({ enabled: false });

interface PauserState {
  refusals?: number;
  mayAnswer?: Promise<unknown>;
  isHeld?: () => Promise<boolean>;
  hasWork?: () => Promise<boolean>;
}

/** A nap over an engine that refuses to pause so many times, once it may answer. */
function pauserWith({ refusals = 0, mayAnswer, ...asked }: PauserState) {
  const told: string[] = [];
  let left = refusals;
  const sandboxes = {
    async pause(): Promise<void> {
      told.push('pause');
      await mayAnswer;
      if ((left -= 1) >= 0) throw new Error('unable to freeze');
    },
    async unpause(): Promise<void> {
      told.push('unpause');
    },
  };
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const yes = async () => true;
  const answers = { mayPause: () => true, isHeld: yes, hasWork: yes, ...asked };
  const of = { containerId: 'container-1', afterMs: 20, ...answers };
  return { nap: createIdlePauser({ sandboxes, logger }, of, over.signal), told, over };
}

test('an engine that cannot pause a sandbox now is asked again', async () => {
  const { nap, told } = pauserWith({ refusals: 2 });
  nap.markIdle();
  await expect.poll(() => told).toEqual(['pause', 'pause', 'pause']);
});

test('one that has been woken up meanwhile is not paused after all', async () => {
  const engine = createDeferred<true>();
  const { nap, told } = pauserWith({ refusals: 1, mayAnswer: engine.promise });
  nap.markIdle();
  await expect.poll(() => told).toEqual(['pause']);
  const awake = nap.resume();
  engine.resolve(true);
  await awake;
  await sleep(150);
  expect(told).toEqual(['pause', 'unpause']);
});

test('one that another looks after by now is not paused, and one that was woken up while that was asked', async () => {
  const asked = createDeferred<true>();
  const { nap, told } = pauserWith({ isHeld: () => asked.promise.then(() => false) });
  const other = pauserWith({ isHeld: () => asked.promise });
  nap.markIdle();
  other.nap.markIdle();
  await sleep(100);
  const awake = other.nap.resume();
  asked.resolve(true);
  await awake;
  await sleep(100);
  expect(told).toEqual([]);
  expect(other.told).toEqual(['unpause']);
});

test('one that is stirred runs at once, and goes on resting', async () => {
  const { nap, told } = pauserWith({});
  nap.markIdle();
  await expect.poll(() => told).toEqual(['pause']);
  nap.prewarm();
  await expect.poll(() => told).toEqual(['pause', 'unpause', 'pause']);
});

test.each([
  ['that another looks after by now', { isHeld: async () => false }],
  ['that has nothing to do', { hasWork: async () => false }],
  ['of which Postgres says nothing', { hasWork: () => Promise.reject(new Error('no answer')) }],
])('one %s is not stirred', async (_what, said) => {
  let answers: Pick<PauserState, 'isHeld' | 'hasWork'> = {};
  const { nap, told } = pauserWith({
    isHeld: async () => answers.isHeld?.() ?? true,
    hasWork: async () => answers.hasWork?.() ?? true,
  });
  nap.markIdle();
  await expect.poll(() => told).toEqual(['pause']);
  answers = said;
  nap.prewarm();
  await sleep(100);
  expect(told.filter((one) => one === 'unpause')).toEqual([]);
});

test('stirring does nothing to one that does not rest', async () => {
  const { nap, told } = pauserWith({});
  await nap.resume();
  nap.prewarm();
  await sleep(100);
  expect(told).toEqual(['unpause']);
});

test('one that is awake can be woken up after its end, one that may sleep cannot', async () => {
  const awake = pauserWith({});
  await awake.nap.resume();
  awake.over.abort();
  await awake.nap.resume();
  expect(awake.told).toEqual(['unpause']);
  const asleep = pauserWith({});
  asleep.over.abort();
  await expect(asleep.nap.resume()).rejects.toThrow();
});
