import { limits } from '../../core/limits.ts';
import type { StreamPosition } from '../../systems/redis/frame-stream.ts';

/** Some events in a row, ready to be written, and the place after the last of them. */
export interface Piece {
  bytes: Buffer;
  to: StreamPosition;
}

/**
 * The latest events of a run as bytes, shared by all who read it. Bounded: who has fallen behind
 * it reads the log.
 */
export interface Ring {
  push: (at: StreamPosition, bytes: Buffer) => void;
  /** Null: nothing after the place yet. `behind`: what comes next is no longer here. */
  take: (after: StreamPosition) => Piece | 'behind' | null;
  /** Frames up to this one are in the log alone. */
  floor: () => number;
}

interface Item {
  at: StreamPosition;
  bytes: Buffer;
}

export function createRing(start: number): Ring {
  let items: Item[] = [];
  let size = 0;
  let floor = start;
  // Readers who are at the same place, as most are, are given the same bytes.
  let latest: { after: StreamPosition; piece: Piece } | null = null;

  /** A quarter at a time: to move what stays for every frame that goes would cost more than all else. */
  function evict(): void {
    if (fits(items.length, size, 1)) return;
    let dropped = 0;
    for (const item of items) {
      const isLast = dropped === items.length - 1;
      if (isLast || fits(items.length - dropped, size, keptShare)) break;
      size -= item.bytes.length;
      floor = item.at.seq;
      dropped += 1;
    }
    items = items.slice(dropped);
  }

  return {
    push(at, bytes) {
      items.push({ at, bytes });
      size += bytes.length;
      latest = null;
      evict();
    },
    take(after) {
      if (after.seq < floor) return 'behind';
      if (latest !== null && compare(latest.after, after) === 0) return latest.piece;
      const piece = gather(items, firstAfter(items, after));
      if (piece !== null) latest = { after, piece };
      return piece;
    },
    floor: () => floor,
  };
}

const keptShare = 0.75;

function fits(frames: number, bytes: number, share: number): boolean {
  return frames <= limits.liveFeedFrames * share && bytes <= limits.liveFeedBytes * share;
}

function gather(items: Item[], first: number): Piece | null {
  const parts: Buffer[] = [];
  let size = 0;
  for (let i = first; i < items.length && size < limits.streamBufferMaxBytes; i += 1) {
    const bytes = items[i]?.bytes;
    if (bytes === undefined) break;
    parts.push(bytes);
    size += bytes.length;
  }
  const last = items[first + parts.length - 1];
  const [only] = parts;
  if (last === undefined || only === undefined || parts.length === 0) return null;
  return { bytes: parts.length === 1 ? only : Buffer.concat(parts, size), to: last.at };
}

/** By halves: the items are in order. */
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
