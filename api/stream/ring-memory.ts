import { limits } from '../../core/limits.ts';

/** What a ring buffer holds. */
interface RingContent {
  evictAll: () => void;
}

export interface RingMemory {
  /** Records what a ring holds after a push. May evict the content of other rings. */
  record: (content: RingContent, bytes: number) => void;
  forget: (content: RingContent) => void;
}

/**
 * Limits the bytes of all ring buffers together. Over the limit, the rings that were pushed to
 * longest ago lose their content: readers at their end do not need it.
 */
export function createRingMemory(maxBytes: number = limits.feed.totalBytes): RingMemory {
  /** The least recently pushed first. */
  const sizes = new Map<RingContent, number>();
  let total = 0;

  function forget(content: RingContent): void {
    total -= sizes.get(content) ?? 0;
    sizes.delete(content);
  }

  return {
    record(content, bytes) {
      forget(content);
      sizes.set(content, bytes);
      total += bytes;
      for (const oldest of sizes.keys()) {
        if (total <= maxBytes || oldest === content) return;
        forget(oldest);
        oldest.evictAll();
      }
    },
    forget,
  };
}
