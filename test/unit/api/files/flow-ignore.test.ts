import { getPriority, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { matchIgnored } from '../../../../api/files/flow-ignore.ts';
import { limits } from '../../../../core/limits.ts';

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
  for (let n = 0; n < 3; n += 1) {
    expect(matchIgnored('*.log\n', ['a.log', 'b.txt'])).toEqual(new Set(['a.log']));
  }
});

test('patterns that take too long do not change how the next ones match', () => {
  const paths = Array.from({ length: 10_000 }, (_, index) => `${index}`);
  const slow = '*.a\n'.repeat(limits.flow.ignoreMaxBytes / 4);
  for (let n = 0; n < 30; n += 1) {
    expect(() => matchIgnored(slow, paths)).toThrow('take too long');
    expect(matchIgnored('*.log\n', ['a.log', 'b.txt'])).toEqual(new Set(['a.log']));
  }
}, 300_000); // attempts take longer on a busy machine
