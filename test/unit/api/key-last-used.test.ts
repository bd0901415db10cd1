import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createKeyLastUsed } from '../../../api/auth/key-last-used.ts';
import { limits } from '../../../core/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('writes the use of a key that was locked with the next batch', async () => {
  const batches: string[][] = [];
  const keys = {
    async touch(keyIds: string[]) {
      batches.push(keyIds);
      return batches.length === 1 ? ['locked'] : [];
    },
  };
  const onError = (error: unknown) => expect.unreachable(String(error));
  const lastUsed = createKeyLastUsed({ keys, onError });
  for (const keyId of ['locked', 'free', 'locked']) lastUsed.record(keyId);
  for (let batch = 0; batch < 3; batch += 1)
    await vi.advanceTimersByTimeAsync(limits.key.touchEveryMs);
  expect(batches).toEqual([['locked', 'free'], ['locked']]);
  await lastUsed.close();
});
