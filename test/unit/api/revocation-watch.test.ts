import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRevocationWatch } from '../../../api/stream/revocation-watch.ts';
import { limits } from '../../../core/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watchKeys(active: Set<string>) {
  const asked: string[][] = [];
  const activeOf = async (keyIds: string[]) => {
    asked.push(keyIds);
    return keyIds.filter((keyId) => active.has(keyId));
  };
  const unused = { logger: { warn: vi.fn() } };
  const watch = createRevocationWatch({ activeOf, ...unused } as never);
  return { asked, watch };
}

test('looks 200 keys up by one query, and reports those not active', async () => {
  const keyIds = Array.from({ length: 200 }, (_, n) => `key-${n}`);
  const active = new Set(keyIds);
  const { asked, watch } = watchKeys(active);
  const revoked: string[] = [];
  for (const keyId of [...keyIds, ...keyIds]) watch.watch(keyId, () => revoked.push(keyId));
  const stopWatching = watch.watch('gone', () => revoked.push('gone'));
  active.delete('key-7');
  stopWatching();
  await vi.advanceTimersByTimeAsync(limits.stream.keyCheckMs);
  expect(asked).toEqual([keyIds]);
  expect(revoked).toEqual(['key-7', 'key-7']);
  watch.close();
});

test('asks nothing without open streams', async () => {
  const { asked, watch } = watchKeys(new Set());
  await vi.advanceTimersByTimeAsync(10 * limits.stream.keyCheckMs);
  expect(asked).toEqual([]);
  watch.close();
});
