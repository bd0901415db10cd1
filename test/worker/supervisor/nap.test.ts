import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createNap } from '../../../worker/supervisor/session/nap.ts';

const logger = pino({ enabled: false });

/** A nap over an engine that refuses to pause so many times, and takes its time to say so. */
function napWith({ refusals }: { refusals: number }) {
  const told: string[] = [];
  let left = refusals;
  const sandboxes = {
    async pause(): Promise<void> {
      told.push('pause');
      await sleep(30);
      if ((left -= 1) >= 0) throw new Error('unable to freeze');
    },
    async unpause(): Promise<void> {
      told.push('unpause');
    },
  };
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const of = { containerId: 'container-1', afterMs: 20, mayPause: () => true };
  return { nap: createNap({ sandboxes, logger }, of, over.signal), told };
}

test('an engine that cannot pause a sandbox now is asked again', async () => {
  const { nap, told } = napWith({ refusals: 2 });
  nap.rest();
  await expect.poll(() => told).toEqual(['pause', 'pause', 'pause']);
});

test('one that has been woken up meanwhile is not paused after all', async () => {
  const { nap, told } = napWith({ refusals: 1 });
  nap.rest();
  await expect.poll(() => told, { interval: 1 }).toEqual(['pause']);
  await nap.wake();
  await sleep(150);
  expect(told).toEqual(['pause', 'unpause']);
});
