import { getPriority, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { matchIgnored } from '../../../../api/files/flow-ignore.ts';

/** Other threads of this process that use all the time they get, while this one gets little. */
async function yieldToBusyThreads(): Promise<void> {
  const priority = getPriority();
  const threads = Array.from({ length: 4 }, () => new Worker('for (;;);', { eval: true }));
  onTestFinished(async () => {
    setPriority(priority);
    await Promise.all(threads.map((thread) => thread.terminate()));
  });
  await Promise.all(threads.map((thread) => new Promise((ready) => thread.once('online', ready))));
  setPriority(19); // of this thread alone
}

test('the time of other threads does not count as time of the patterns', async () => {
  await yieldToBusyThreads();
  for (let n = 0; n < 10; n += 1) {
    expect(matchIgnored('*.log\n', ['a.log', 'b.txt'])).toEqual(new Set(['a.log']));
  }
});
