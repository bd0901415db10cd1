// One reader of a run's stream, in three phases:
//   1. subscribe: it is attached to the run's feed, which listens already, so nothing that happens
//      from here on is missed;
//   2. replay: how the run stands, what it has said so far, and every frame of the log from the
//      reader's place on;
//   3. live: what the feed has beyond that place, until the end.
// The reader's place in the log decides alone what comes next, so phases 2 and 3 overlap without a
// gap and without anything twice; a reader who falls behind the feed is back in phase 2.

import type { Run } from '../../core/runs/run.ts';
import { createNotifier, type Notifier } from '../../lib/async/notifier.ts';
import type { StreamPosition } from '../../systems/redis/frame-stream.ts';
import type { ApiDeps } from '../deps.ts';
import type { ReplaySource } from './replay-source.ts';
import type { LiveFeed } from './run-feed.ts';
import type { Outlet } from './sse-writer.ts';

/** Why the service ends a stream that is not over. */
export type Dismissal = 'shutdown' | 'key';

export interface Reader {
  run: Run;
  feed: LiveFeed;
  source: ReplaySource;
  frames: Pick<ApiDeps['frames'], 'renderedTail'>;
  outlet: Outlet;
  /** The last id that the reader has seen; null: it has seen nothing. */
  resumeAfter: number | null;
  /** Where the log stood when the reader came. */
  snapshotSeq: number;
  /** What the next event follows. */
  position: StreamPosition;
  said: { status: string | null; tree: string | null };
  isPingDue: boolean;
  dismissal: Dismissal | null;
  /** Something may have changed. */
  signal: Notifier;
}

export type NewReader = Pick<
  Reader,
  'run' | 'feed' | 'source' | 'frames' | 'outlet' | 'resumeAfter'
>;

export function createReader(given: NewReader): Reader {
  const { run, resumeAfter } = given;
  const isResumed = resumeAfter !== null;
  // An id from the future is one that this log never gave: the reader has seen all there is.
  const seq = Math.min(resumeAfter ?? 0, run.lastSeq);
  return {
    ...given,
    snapshotSeq: run.lastSeq,
    // Who resumes has seen some of the deltas after its last frame, and nobody knows which.
    position: { seq, n: isResumed ? Number.MAX_SAFE_INTEGER : 0 },
    said: { status: null, tree: null },
    isPingDue: false,
    dismissal: null,
    signal: createNotifier(),
  };
}
