import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';
import { createRingMemory } from './ring-memory.ts';
import { createRunFeed, type FeedDeps, type RunFeed, stateOf } from './run-feed.ts';

export interface FeedHub {
  /** The run's feed; call `release` when the reader has left. */
  attach: (run: Run) => { feed: RunFeed; release: () => void };
  close: () => void;
}

type HubDeps = FeedDeps & Pick<ApiDeps, 'feedTotalBytes'>;

interface SharedFeed {
  feed: RunFeed;
  readers: number;
}

/**
 * All feeds of this process, and one poll of Postgres for all of them. When the database was
 * restored, the feeds may be ahead of it: no further reader gets them, and `onRestore` is called.
 */
export function createFeedHub(deps: HubDeps, onRestore: () => void): FeedHub {
  const memory = createRingMemory(deps.feedTotalBytes);
  const feeds = new Map<string, SharedFeed>();
  let isPolling = false;
  /** Null while there are no feeds. */
  let knownRestores: number | null = null;

  function compareRestores(restores: number): void {
    const isRestored = knownRestores !== null && knownRestores !== restores;
    knownRestores = restores;
    if (!isRestored) return;
    feeds.clear();
    onRestore();
  }

  async function poll(): Promise<void> {
    if (isPolling || feeds.size === 0) return;
    isPolling = true;
    try {
      const states = await deps.frames.progressOfRuns([...feeds.keys()]);
      for (const [runId, state] of states) {
        compareRestores(state.restores);
        feeds.get(runId)?.feed.update(state);
      }
    } catch (err) {
      deps.logger.warn({ err }, 'stream_poll_failed');
    } finally {
      isPolling = false;
    }
  }

  const timer = setInterval(() => void poll(), limits.stream.tickMs);
  timer.unref();

  function release(runId: string, shared: SharedFeed): void {
    shared.readers -= 1;
    if (shared.readers > 0) return;
    shared.feed.close();
    if (feeds.get(runId) === shared) feeds.delete(runId);
    if (feeds.size === 0) knownRestores = null;
  }

  return {
    attach(run) {
      const { runId } = run;
      const shared = feeds.get(runId) ?? { feed: createRunFeed(deps, run, memory), readers: 0 };
      feeds.set(runId, shared);
      shared.readers += 1;
      shared.feed.update(stateOf(run));
      return { feed: shared.feed, release: () => release(runId, shared) };
    },
    close() {
      clearInterval(timer);
      for (const { feed } of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}
