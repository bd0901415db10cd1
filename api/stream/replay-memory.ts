import { limits } from '../../core/limits.ts';
import { createByteBudget } from '../../lib/async/byte-budget.ts';
import { createSemaphore } from '../../lib/async/semaphore.ts';

export interface ReplayMemory {
  /** Waits for memory, and throws if there is none in time. The result releases it. */
  reserve: (keyId: string, bytes: number) => Promise<() => void>;
  /** Runs at most `limits.replay.readsAtOnce` reads at once. */
  read: <T>(work: () => Promise<T>) => Promise<T>;
}

export type ReplayBounds = Record<'maxBytes' | 'ownerMaxBytes' | 'waitMs', number>;

/**
 * Limits the memory of replayed events that clients have not read. Over the budget a reader waits
 * before anything is read for it. After the wait its stream ends, and the client reconnects.
 */
export function createReplayMemory(
  bounds: ReplayBounds = limits.stream.replayBudget,
): ReplayMemory {
  const budget = createByteBudget(bounds);
  const reads = createSemaphore(limits.replay.readsAtOnce);
  return {
    read: reads.run,
    async reserve(keyId, bytes) {
      const fitting = Math.min(bytes, bounds.ownerMaxBytes);
      const release = await budget.reserve(keyId, fitting, { waitingBytes: 0 });
      if (release === null) throw new Error('Too many clients do not read their replay.');
      return release;
    },
  };
}
