import { limits } from '../../core/limits.ts';
import type { StreamEntry } from '../../systems/redis/frame-stream.ts';

/** What wake-ups bring, until somebody takes it. */
export interface FeedNews {
  add: (entries: StreamEntry[]) => void;
  /** There is more than what was brought, or may be. */
  doubt: () => void;
  /** Null where that is so: all has to be read. */
  take: () => StreamEntry[] | null;
}

/** At the beginning nothing is known. What is not taken in time is not kept. */
export function createFeedNews(): FeedNews {
  let brought: StreamEntry[] | null = null;
  return {
    add(entries) {
      const isKept = entries.length > 0 && (brought?.length ?? 0) < limits.liveFeedPageFrames;
      brought = isKept && brought !== null ? [...brought, ...entries] : null;
    },
    doubt() {
      brought = null;
    },
    take() {
      const news = brought;
      brought = [];
      return news;
    },
  };
}
