import { expect, test } from 'vitest';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createSaveQueue } from '../../../../../worker/sandbox/session/save-session.ts';

/** The first save lasts until it is released. */
function heldQueue() {
  const released = createDeferred<true>();
  const saves: string[] = [];
  let begun = 0;
  const queue = createSaveQueue(
    async (signal) => {
      begun += 1;
      if (begun === 1) await released.promise;
      saves.push(signal === undefined ? 'scheduled' : 'requested');
      signal?.throwIfAborted();
    },
    () => undefined,
  );
  return { queue, saves, countBegun: () => begun, release: () => released.resolve(true) };
}

test('saves that are scheduled while one waits are one', async () => {
  const { queue, saves, release } = heldQueue();
  for (let n = 0; n < 5; n += 1) queue.scheduleSave();
  release();
  await queue.save();
  expect(saves).toEqual(['scheduled', 'scheduled']);
});

test('a scheduled save is made even if a requested one that waits is stopped', async () => {
  const { queue, saves, countBegun, release } = heldQueue();
  const stopping = new AbortController();
  const first = queue.save();
  await expect.poll(countBegun).toBe(1);
  const requested = queue.save(stopping.signal);
  queue.scheduleSave();
  stopping.abort(new Error('too late'));
  release();
  await first;
  await expect(requested).rejects.toThrow('too late');
  await expect.poll(() => saves).toEqual(['scheduled', 'requested', 'scheduled']);
});
