// One feed per watched run and process, shared by all its readers. It listens first, then reads on
// from where the log stood. A wake-up says how far the log has got, and brings what is short; the
// tick says so once a second whether anybody woke it or not, and has what Redis did not answer asked
// again; so a lost wake-up, a lost frame or a lost Redis costs time and nothing else.

import type { Run } from '../../core/runs/run.ts';
import { createCoalescingRunner } from '../../lib/async/coalescing-runner.ts';
import type { LogState } from '../../systems/postgres/log/run-progress.ts';
import type { Wake } from '../../systems/redis/frame-stream.ts';
import type { ApiDeps } from '../deps.ts';
import { createFeedLog, type FeedLog } from './feed-cursor.ts';
import { createFeedState, type FeedState } from './feed-state.ts';
import { createFeedTree, type FeedTree } from './feed-tree.ts';
import { createFeedNews, type FeedNews } from './pending-entries.ts';
import type { Ring } from './ring-buffer.ts';

export interface LiveFeed {
  ring: Pick<Ring, 'take' | 'floor'>;
  tree: Pick<FeedTree, 'json'>;
  state: () => LogState;
  /** Resolves when the tree is known. */
  ready: Promise<void>;
  onChange: (listener: () => void) => () => void;
  /** What somebody has just read in Postgres. */
  observe: (state: LogState) => void;
  close: () => void;
}

export type FeedDeps = Pick<ApiDeps, 'frames' | 'frameStream' | 'files' | 'logger'>;

export function createLiveFeed(deps: FeedDeps, run: Run): LiveFeed {
  const { runId, requestId } = run;
  const listeners = new Set<() => void>();
  const log = createFeedLog(deps, run);
  const state = createFeedState(deps, run);
  const tree = createFeedTree(deps, runId);
  const isOver = () => state.now().endedAt !== null;
  const news = createFeedNews();
  const tell = () => listeners.forEach((listener) => listener());

  const reading = createCoalescingRunner({
    onError(err) {
      news.doubt();
      deps.logger.warn({ err, runId, requestId }, 'stream_read_failed');
    },
    async step() {
      await state.refresh();
      log.hearOf(state.now().lastSeq);
      await tree.refresh(isOver());
      const brought = news.take();
      if (brought === null || !log.take(brought)) while (await log.advance()) tell();
      tell();
    },
  });

  function hear(wake: Wake): void {
    note(wake, { log, state, tree, news });
    reading.trigger();
  }

  // Of a run that is over there is nothing more to hear.
  const unsubscribe = isOver() ? () => undefined : deps.frameStream.subscribe(runId, hear);

  return {
    ring: log.ring,
    tree,
    state: state.now,
    ready: tree.refresh(isOver()),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    observe(found) {
      if (!state.set(found) && found.lastSeq <= log.seq() && !tree.isDue()) return;
      news.doubt();
      reading.trigger();
    },
    close() {
      unsubscribe();
      reading.close();
    },
  };
}

interface Parts {
  log: FeedLog;
  state: FeedState;
  tree: FeedTree;
  news: FeedNews;
}

function note(wake: Wake, { log, state, tree, news }: Parts): void {
  if (wake.kind === 'frames') {
    log.hearOf(wake.lastSeq);
    news.add(wake.entries);
  }
  if (wake.kind === 'state' || wake.kind === 'unsure') {
    state.expect();
    news.doubt();
  }
  if (wake.kind === 'filetree' || wake.kind === 'unsure') tree.expect();
}
