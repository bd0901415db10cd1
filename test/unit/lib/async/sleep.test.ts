import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { sleep } from '../../../../lib/async/sleep.ts';

const longMs = 60_000;

test('a pause is over when its time is, and sooner by any of its signals', async () => {
  const never = new AbortController();
  await sleep(1);
  await sleep(1, never.signal);
  for (const place of [0, 1]) {
    const cut = new AbortController();
    const signals = [never.signal, never.signal];
    signals[place] = cut.signal;
    const paused = sleep(longMs, ...signals);
    cut.abort();
    await paused;
    await sleep(longMs, ...signals);
  }
});

test('of its pauses a signal keeps nothing', async () => {
  const [service, loop] = [new AbortController(), new AbortController()];
  const cut = AbortSignal.abort();
  const pauses = async () => {
    for (let n = 0; n < 20_000; n += 1) await sleep(longMs, service.signal, loop.signal, cut);
    return heldBytes();
  };
  const before = await pauses();
  expect((await pauses()) - before).toBeLessThan(200_000);
  expect([service.signal.aborted, loop.signal.aborted]).toEqual([false, false]);
});

/** After a collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // what the flag is for
  collect();
  return process.memoryUsage().heapUsed;
}
