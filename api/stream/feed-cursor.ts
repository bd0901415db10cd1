import type { StoredFrame } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { StreamEntry, StreamPosition } from '../../systems/redis/frame-entry.ts';
import type { ApiDeps } from '../deps.ts';
import { readLog } from './replay-source.ts';
import type { RingBuffer } from './ring-buffer.ts';
import { sseDelta, sseFrame } from './sse-writer.ts';

/** Follows the growing end of a run's log and puts it into a ring buffer as SSE events. */
export interface FeedCursor {
  /** The last frame that has been read. */
  seq: () => number;
  /** Records that the log reaches at least this frame, according to a publication. */
  noteHighWatermark: (seq: number) => void;
  /** Records where the log ended in Postgres when it was last read. */
  noteStored: (seq: number) => void;
  /** Appends the entries that continue the log; true if nothing more is known to exist. */
  tryAppend: (entries: StreamEntry[]) => boolean;
  /** Reads one page; true if there may be more. */
  readMore: () => Promise<boolean>;
}

type CursorDeps = Pick<ApiDeps, 'frames' | 'frameStream'>;
type FeedRing = Pick<RingBuffer, 'push'>;

/**
 * Reads from Redis while sequence numbers have no gap. Reads from Postgres across a gap, at a stub,
 * and when Redis has less than the high watermark.
 */
export function createFeedCursor(deps: CursorDeps, run: Run, ring: FeedRing): FeedCursor {
  const position: StreamPosition = { seq: run.lastSeq, n: 0 };
  let highWatermark = run.lastSeq;
  const stored = createStoredMark(run);

  const noteHighWatermark = (seq: number): void => {
    highWatermark = Math.max(highWatermark, seq);
  };

  function pushFrame(frame: StoredFrame): void {
    Object.assign(position, { seq: frame.seq, n: 0 });
    ring.push({ ...position }, sseFrame(frame));
  }

  /** False if the next frame is not in Redis. */
  function append(entry: StreamEntry): boolean {
    const { seq } = positionOf(entry);
    noteHighWatermark(seq);
    if (seq < position.seq) return true;
    if (entry.kind === 'delta' && seq === position.seq) {
      position.n = entry.delta.n;
      stored.restartWait();
      if (run.partialMessages) ring.push({ ...position }, sseDelta(entry.delta));
      return true;
    }
    if (entry.kind !== 'frame' || seq !== position.seq + 1) return false;
    pushFrame(entry.frame);
    return true;
  }

  const isAppended = (entry: StreamEntry): boolean =>
    isKnown(entry, position) || (follows(entry, position) && append(entry));

  async function readFromRedis(): Promise<boolean> {
    const entries = await deps.frameStream.read(run.runId, position, limits.feed.pageFrames);
    if (entries !== null) return entries.every(append) && entries.length === limits.feed.pageFrames;
    noteHighWatermark(stored.lastSeq());
    return false;
  }

  /** An empty page below the high watermark: the log was pruned, or the watermark was wrong. */
  async function readFromPostgres(): Promise<boolean> {
    if (position.seq >= highWatermark) return false;
    const maxFrames = Math.min(limits.replay.pageFrames, highWatermark - position.seq);
    const page = await readLog(deps, run.runId, { afterSeq: position.seq, maxFrames });
    page.forEach(pushFrame);
    if (page.length === 0) highWatermark = position.seq;
    return page.length > 0;
  }

  return {
    seq: () => position.seq,
    noteHighWatermark,
    noteStored: (seq) => noteHighWatermark(stored.note(seq)),
    tryAppend: (entries) => entries.every(isAppended) && position.seq >= highWatermark,
    readMore: async () => (await readFromRedis()) || (await readFromPostgres()),
  };
}

interface StoredMark {
  /** Where the log ended in Postgres when it was last read. */
  lastSeq: () => number;
  /** Returns the last frame that may be read from Postgres. */
  note: (seq: number) => number;
  restartWait: () => void;
}

/**
 * A frame is published after its commit, together with the deltas before it, which Postgres lacks.
 * So of a run with deltas, a stored frame that is not in Redis is read from Postgres only after a
 * time in which it would have been published. That time starts again with each delta: a frame that
 * is never published, such as `message_withdrawn`, may be stored while the agent writes a message,
 * and the deltas of that message follow the last published frame.
 */
function createStoredMark({ lastSeq, partialMessages }: Run): StoredMark {
  let stored = lastSeq;
  let awaited = { seq: lastSeq, since: performance.now() };
  let readableSeq = lastSeq;
  return {
    lastSeq: () => stored,
    note(seq) {
      stored = Math.max(stored, seq);
      if (!partialMessages) return stored;
      const now = performance.now();
      if (now - awaited.since >= limits.feed.publicationMs) {
        readableSeq = awaited.seq;
        awaited = { seq: stored, since: now };
      }
      return readableSeq;
    },
    restartWait() {
      awaited.since = performance.now();
    },
  };
}

function isKnown(entry: StreamEntry, after: StreamPosition): boolean {
  const { seq, n } = positionOf(entry);
  return seq < after.seq || (seq === after.seq && n <= after.n);
}

/** Nothing is missing in between. A missed delta cannot be read from Postgres. */
function follows(entry: StreamEntry, after: StreamPosition): boolean {
  const { seq, n } = positionOf(entry);
  return n === 0 ? seq === after.seq + 1 : seq === after.seq && n === after.n + 1;
}

function positionOf(entry: StreamEntry): StreamPosition {
  if (entry.kind === 'delta') return entry.delta;
  return { seq: entry.kind === 'stub' ? entry.seq : entry.frame.seq, n: 0 };
}

/** Entries that notifications carried, until the feed appends them. */
export interface PendingEntries {
  add: (entries: StreamEntry[]) => void;
  /** The log may have more than the pending entries. */
  invalidate: () => void;
  /** Null if they are incomplete: the log has to be read. */
  take: () => StreamEntry[] | null;
}

/** Starts invalid. Too many entries are dropped, and the log is read instead. */
export function createPendingEntries(): PendingEntries {
  let pending: StreamEntry[] | null = null;
  return {
    add(entries) {
      const fits = entries.length > 0 && (pending?.length ?? 0) < limits.feed.pageFrames;
      pending = fits && pending !== null ? [...pending, ...entries] : null;
    },
    invalidate() {
      pending = null;
    },
    take() {
      const taken = pending;
      pending = [];
      return taken;
    },
  };
}
