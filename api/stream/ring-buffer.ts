import { limits } from '../../core/limits.ts';
import type { StreamPosition } from '../../systems/redis/frame-entry.ts';
import type { RingMemory } from './ring-memory.ts';

/** Consecutive events as bytes, and the position after the last of them. */
export interface Chunk {
  bytes: Buffer;
  to: StreamPosition;
}

/**
 * The latest events of a run as bytes, shared by all readers. Bounded, also together with the rings
 * of other runs: a reader that falls behind reads the log instead.
 */
export interface RingBuffer {
  push: (at: StreamPosition, bytes: Buffer) => void;
  /** Null: nothing after the position yet. `overrun`: the next event was evicted. */
  take: (after: StreamPosition) => Chunk | 'overrun' | null;
  /** Frames up to this one are only in the log. */
  evictedThroughSeq: () => number;
  /** Returns its memory. Further events are not stored. */
  close: () => void;
}

interface Item {
  at: StreamPosition;
  bytes: Buffer;
}

export function createRingBuffer(startSeq: number, memory: RingMemory): RingBuffer {
  let items: Item[] = [];
  let isClosed = false;
  let size = 0;
  let evictedThroughSeq = startSeq;
  // Most readers are at the same position: they get the same chunk.
  let latest: { after: StreamPosition; chunk: Chunk } | null = null;

  /**
   * Evicts a quarter at a time: moving the remaining items for every frame would dominate the cost.
   */
  function evict(): void {
    if (fits(items.length, size, 1)) return;
    let dropped = 0;
    for (const item of items) {
      const isLast = dropped === items.length - 1;
      if (isLast || fits(items.length - dropped, size, shareAfterEviction)) break;
      size -= item.bytes.length;
      evictedThroughSeq = item.at.seq;
      dropped += 1;
    }
    items = items.slice(dropped);
  }

  function evictAll(): void {
    evictedThroughSeq = items.at(-1)?.at.seq ?? evictedThroughSeq;
    items = [];
    size = 0;
    latest = null;
  }

  const content = { evictAll };
  return {
    push(at, bytes) {
      if (isClosed) return;
      items.push({ at, bytes });
      size += bytes.length;
      latest = null;
      evict();
      memory.record(content, size + items.length * limits.feed.itemBytes);
    },
    take(after) {
      if (after.seq < evictedThroughSeq) return 'overrun';
      const last = items.at(-1);
      if (last === undefined || compare(last.at, after) <= 0) return null;
      if (latest !== null && compare(latest.after, after) === 0) return latest.chunk;
      const chunk = gather(items, firstAfter(items, after));
      if (chunk !== null) latest = { after, chunk };
      return chunk;
    },
    evictedThroughSeq: () => evictedThroughSeq,
    close() {
      isClosed = true;
      memory.forget(content);
    },
  };
}

const shareAfterEviction = 0.75;

function fits(frames: number, bytes: number, share: number): boolean {
  return frames <= limits.feed.frames * share && bytes <= limits.feed.bytes * share;
}

function gather(items: Item[], first: number): Chunk | null {
  const parts: Buffer[] = [];
  let size = 0;
  for (let i = first; i < items.length && size < limits.stream.bufferMaxBytes; i += 1) {
    const bytes = items[i]?.bytes;
    if (bytes === undefined) break;
    parts.push(bytes);
    size += bytes.length;
  }
  const last = items[first + parts.length - 1];
  const [only] = parts;
  if (last === undefined || only === undefined) return null;
  return { bytes: parts.length === 1 ? only : Buffer.concat(parts, size), to: last.at };
}

/** Binary search: the items are in order. */
function firstAfter(items: Item[], after: StreamPosition): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && compare(item.at, after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(a: StreamPosition, b: StreamPosition): number {
  return a.seq - b.seq || a.n - b.n;
}
