import { expect, test } from 'vitest';
import { createDeferred } from '../../../../lib/async/deferred.ts';
import { createSemaphore } from '../../../../lib/async/semaphore.ts';

test('runs at most two calls at once, the others in their order', async () => {
  const { run } = createSemaphore(2);
  const started: number[] = [];
  const gates = [0, 1, 2, 3].map(() => createDeferred<true>());
  const calls = gates.map((gate, n) =>
    run(async () => {
      started.push(n);
      await gate.promise;
      return n;
    }),
  );
  await Promise.resolve();
  expect(started).toEqual([0, 1]);
  gates[1]?.resolve(true);
  await calls[1];
  await expect.poll(() => started).toEqual([0, 1, 2]);
  for (const gate of gates) gate.resolve(true);
  expect(await Promise.all(calls)).toEqual([0, 1, 2, 3]);
});

test('a failed call releases its permit', async () => {
  const { run } = createSemaphore(1);
  const failed = run(() => Promise.reject(new Error('first')));
  const next = run(async () => 'second');
  await expect(failed).rejects.toThrow('first');
  expect(await next).toBe('second');
});
