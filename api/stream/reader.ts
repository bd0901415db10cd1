// One reader of a run's stream, in three phases:
//   1. subscribe: the reader is attached to the run's feed, which is subscribed already, so no
//      event from here on is missed;
//   2. replay: the run's status, its output so far, and every frame after the reader's position;
//   3. live: the events that the feed has after that position, until the end. While the reader
//      waits for the next ones, the feed writes them directly.
// The reader's position in the log alone decides what comes next. Phases 2 and 3 may overlap
// without a gap or a duplicate. A reader that falls behind the feed returns to phase 2.

import type { Run } from '../../core/runs/run.ts';
import { createNotifier, type Notifier } from '../../lib/async/notifier.ts';
import type { StreamPosition } from '../../systems/redis/frame-entry.ts';
import type { ApiDeps } from '../deps.ts';
import type { PingTimer } from './ping-timer.ts';
import type { ReaderKey } from './reconnect-times.ts';
import type { ReplayMemory } from './replay-memory.ts';
import type { ReplaySource } from './replay-source.ts';
import type { RunFeed } from './run-feed.ts';
import type { SseWriter } from './sse-writer.ts';

/** Set when the service closes a stream before the run has ended. */
interface Closing {
  /** When the reader should reconnect; null if its key was revoked. */
  retryMs: Promise<number> | null;
}

export interface Reader {
  run: Run;
  key: ReaderKey;
  feed: RunFeed;
  source: ReplaySource;
  memory: ReplayMemory;
  pings: PingTimer;
  frames: Pick<ApiDeps['frames'], 'renderedTail'>;
  writer: SseWriter;
  /** The last event ID that the reader has seen; null for a new reader. */
  resumeAfter: number | null;
  /** Where the log ended when the reader connected. */
  replayUntilSeq: number;
  /** The next event follows this position. */
  position: StreamPosition;
  lastSent: { status: string | null; tree: string | null };
  /**
   * A write outside the phases that the next one has to wait for. A reader that takes none of it is
   * disconnected (`limits.stream.stallMs`) before its next ping, so there is one at a time.
   */
  pendingWrite: Promise<boolean> | null;
  isPingDue: boolean;
  /** Nothing else is written meanwhile, so pings are written when they are due. */
  isWaitingForMemory: boolean;
  /** The time to reconnect, if the reader needs another one than it was sent. */
  nextRetryMs: () => number | null;
  /** Set when it may need one before its next ping. */
  isRetryDue: boolean;
  closing: Closing | null;
  /** Notified when something may have changed. */
  notifier: Notifier;
}

type ReaderOptions = Pick<
  Reader,
  | 'run'
  | 'key'
  | 'feed'
  | 'source'
  | 'memory'
  | 'pings'
  | 'frames'
  | 'writer'
  | 'resumeAfter'
  | 'nextRetryMs'
>;

export function createReader(options: ReaderOptions): Reader {
  const { run, resumeAfter } = options;
  const isResumed = resumeAfter !== null;
  // This log never issued an ID beyond its end: such a reader has seen everything.
  const seq = Math.min(resumeAfter ?? 0, run.lastSeq);
  return {
    ...options,
    replayUntilSeq: run.lastSeq,
    // A resuming reader may have seen any of the deltas after its last frame, so all are skipped.
    position: { seq, n: isResumed ? Number.MAX_SAFE_INTEGER : 0 },
    lastSent: { status: null, tree: null },
    pendingWrite: null,
    isPingDue: false,
    isWaitingForMemory: false,
    isRetryDue: false,
    closing: null,
    notifier: createNotifier(),
  };
}
