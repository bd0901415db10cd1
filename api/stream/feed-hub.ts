import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import { stateOf } from './feed-state.ts';
import { createLiveFeed, type FeedDeps, type LiveFeed } from './run-feed.ts';

export interface Feeds {
  /** The feed of a run; let go of it when the reader has gone. */
  attach: (run: Run) => { feed: LiveFeed; release: () => void };
  close: () => void;
}

/** The feeds of this process, and the tick that looks after all of them with one statement. */
export function createFeeds(deps: FeedDeps): Feeds {
  const feeds = new Map<string, { feed: LiveFeed; readers: number }>();
  let isTicking = false;

  async function tick(): Promise<void> {
    if (isTicking || feeds.size === 0) return;
    isTicking = true;
    try {
      const states = await deps.frames.states([...feeds.keys()]);
      for (const [runId, state] of states) feeds.get(runId)?.feed.observe(state);
    } catch (err) {
      deps.logger.warn({ err }, 'stream_tick_failed');
    } finally {
      isTicking = false;
    }
  }

  const timer = setInterval(() => void tick(), limits.streamTickMs);
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
      const known = feeds.get(runId) ?? { feed: createLiveFeed(deps, run), readers: 0 };
      feeds.set(runId, known);
      known.readers += 1;
      known.feed.observe(stateOf(run));
      return { feed: known.feed, release: () => release(runId) };
    },
    close() {
      clearInterval(timer);
      for (const { feed } of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}
