import type { StoredFrame } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { StreamEntry, StreamPosition } from '../../systems/redis/frame-stream.ts';
import type { ApiDeps } from '../deps.ts';
import { readLog } from './replay-source.ts';
import { createRing, type Ring } from './ring-buffer.ts';
import { sseDelta, sseFrame } from './sse.ts';

/** The growing end of a run's log, as events in a ring. */
export interface FeedLog {
  ring: Ring;
  /** How far it has been read. */
  seq: () => number;
  /** Somebody says that the log has got this far. */
  hearOf: (seq: number) => void;
  /** Takes what follows its place of what came with a word; true where that is all there is. */
  take: (entries: StreamEntry[]) => boolean;
  /** Reads on; true while there may be more. */
  advance: () => Promise<boolean>;
}

/**
 * Reads from Redis as long as the numbers are without a gap; across a gap, at a stub, and where
 * Redis has less than was heard of, from Postgres.
 */
export function createFeedLog(deps: Pick<ApiDeps, 'frames' | 'frameStream'>, run: Run): FeedLog {
  const ring = createRing(run.lastSeq);
  const position: StreamPosition = { seq: run.lastSeq, n: 0 };
  let heardOf = run.lastSeq;

  const hearOf = (seq: number): void => {
    heardOf = Math.max(heardOf, seq);
  };

  function pushFrame(frame: StoredFrame): void {
    position.seq = frame.seq;
    position.n = 0;
    ring.push({ seq: frame.seq, n: 0 }, sseFrame(frame));
  }

  /** False: what comes next is not in Redis. */
  function accept(entry: StreamEntry): boolean {
    const { seq } = placeOf(entry);
    hearOf(seq);
    if (seq < position.seq) return true;
    if (entry.kind === 'delta' && seq === position.seq) {
      position.n = entry.delta.n;
      if (run.partialMessages) ring.push({ ...position }, sseDelta(entry.delta));
      return true;
    }
    if (entry.kind !== 'frame' || seq !== position.seq + 1) return false;
    pushFrame(entry.frame);
    return true;
  }

  async function advanceByRedis(): Promise<boolean> {
    const entries =
      (await deps.frameStream.read(run.runId, position, limits.liveFeedPageFrames)) ?? [];
    return entries.every(accept) && entries.length === limits.liveFeedPageFrames;
  }

  /** An empty page, though more was heard of: the log has been pruned, or the word was wrong. */
  async function advanceByLog(): Promise<boolean> {
    if (position.seq >= heardOf) return false;
    const page = await readLog(deps, run.runId, position.seq);
    page.forEach(pushFrame);
    if (page.length === 0) heardOf = position.seq;
    return page.length > 0;
  }

  return {
    ring,
    seq: () => position.seq,
    hearOf,
    take(entries) {
      const isTaken = (entry: StreamEntry): boolean =>
        isKnown(entry, position) || (follows(entry, position) && accept(entry));
      return entries.every(isTaken) && position.seq >= heardOf;
    },
    advance: async () => (await advanceByRedis()) || (await advanceByLog()),
  };
}

function isKnown(entry: StreamEntry, after: StreamPosition): boolean {
  const { seq, n } = placeOf(entry);
  return seq < after.seq || (seq === after.seq && n <= after.n);
}

/** Nothing is missing in between: a delta that is missed is not told by Postgres either. */
function follows(entry: StreamEntry, after: StreamPosition): boolean {
  const { seq, n } = placeOf(entry);
  return n === 0 ? seq === after.seq + 1 : seq === after.seq && n === after.n + 1;
}

function placeOf(entry: StreamEntry): StreamPosition {
  if (entry.kind === 'delta') return entry.delta;
  return { seq: entry.kind === 'stub' ? entry.seq : entry.frame.seq, n: 0 };
}
