import { expect, test } from 'vitest';
import { createNotifier } from '../../../../lib/async/notifier.ts';
import { settlesWithin } from '../../../../lib/async/timeout.ts';

const longMs = 60_000;

test('a notification ends the wait', async () => {
  const notifier = createNotifier();
  const waiting = [notifier.wait()];
  notifier.notify();
  await Promise.all(waiting);
  const waitingAtMost = notifier.waitAtMost(longMs);
  notifier.notify();
  await waitingAtMost;
});

test('a notification before the wait ends the next wait, and only that one', async () => {
  const notifier = createNotifier();
  notifier.notify();
  notifier.notify();
  await notifier.waitAtMost(longMs);
  expect(await settlesWithin(20, notifier.wait())).toBe(false);
});

test('a bounded wait ends on timeout or abort, and leaves no listener', async () => {
  const notifier = createNotifier();
  await notifier.waitAtMost(1);
  await notifier.waitAtMost(longMs, AbortSignal.abort());
  notifier.notify();
  await notifier.waitAtMost(longMs);
});
