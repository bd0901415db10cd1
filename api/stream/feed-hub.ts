import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import { createRunFeed, type FeedDeps, type RunFeed, stateOf } from './run-feed.ts';

export interface FeedHub {
  /** The run's feed; call `release` when the reader has left. */
  attach: (run: Run) => { feed: RunFeed; release: () => void };
  close: () => void;
}

/** All feeds of this process, and one poll of Postgres for all of them. */
export function createFeedHub(deps: FeedDeps): FeedHub {
  const feeds = new Map<string, { feed: RunFeed; readers: number }>();
  let isPolling = false;

  async function poll(): Promise<void> {
    if (isPolling || feeds.size === 0) return;
    isPolling = true;
    try {
      const states = await deps.frames.progressOfRuns([...feeds.keys()]);
      for (const [runId, state] of states) feeds.get(runId)?.feed.update(state);
    } catch (err) {
      deps.logger.warn({ err }, 'stream_poll_failed');
    } finally {
      isPolling = false;
    }
  }

  const timer = setInterval(() => void poll(), limits.stream.tickMs);
  timer.unref();

  function release(runId: string): void {
    const known = feeds.get(runId);
    if (known === undefined) return;
    known.readers -= 1;
    if (known.readers > 0) return;
    known.feed.close();
    feeds.delete(runId);
  }

  return {
    attach(run) {
      const { runId } = run;
      const known = feeds.get(runId) ?? { feed: createRunFeed(deps, run), readers: 0 };
      feeds.set(runId, known);
      known.readers += 1;
      known.feed.update(stateOf(run));
      return { feed: known.feed, release: () => release(runId) };
    },
    close() {
      clearInterval(timer);
      for (const { feed } of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}
