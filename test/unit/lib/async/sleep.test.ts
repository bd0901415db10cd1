import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { sleep } from '../../../../lib/async/sleep.ts';

const longMs = 60_000;

test('resolves after the time, or as soon as one of the signals aborts', async () => {
  const never = new AbortController();
  await sleep(1);
  await sleep(1, never.signal);
  for (const index of [0, 1]) {
    const cut = new AbortController();
    const signals = [never.signal, never.signal];
    signals[index] = cut.signal;
    const sleeping = sleep(longMs, ...signals);
    cut.abort();
    await sleeping;
    await sleep(longMs, ...signals);
  }
});

test('leaves no listener on the signal', async () => {
  const [service, loop] = [new AbortController(), new AbortController()];
  const cut = AbortSignal.abort();
  const sleepOften = async () => {
    for (let n = 0; n < 2_000; n += 1) await sleep(longMs, service.signal, loop.signal, cut);
    return usedHeapBytes();
  };
  const heapBytes: number[] = [];
  for (let round = 0; round < 4; round += 1) heapBytes.push(await sleepOften());
  // Listeners would grow the heap in every round, other code of this process does so in some.
  const grownBytes = heapBytes.slice(1).map((bytes, index) => bytes - (heapBytes[index] ?? 0));
  expect(Math.min(...grownBytes)).toBeLessThan(200_000);
  expect([service.signal.aborted, loop.signal.aborted]).toEqual([false, false]);
});

/** The memory after a garbage collection. */
function usedHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // exposed by the flag
  collect();
  return process.memoryUsage().heapUsed;
}
