import { once } from '../once.ts';
import { createTally } from '../tally.ts';

interface Bounds {
  maxBytes: number;
  ownerMaxBytes: number;
  waitMs: number;
  /** The bytes that waiting requests may hold; without it they hold nothing while they wait. */
  waitersMaxBytes?: number;
}

interface Waiter {
  owner: string;
  bytes: number;
  /** The part of the bytes that is in memory already. */
  waitingBytes: number;
  start: () => void;
}

export interface ByteBudget {
  /**
   * Resolves with a function that returns the bytes. Null: too many bytes wait, or `waitMs` have
   * passed. All bytes are in memory while they wait, unless `waitingBytes` says otherwise.
   */
  reserve: (
    owner: string,
    bytes: number,
    options?: { waitingBytes: number },
  ) => Promise<(() => void) | null>;
}

/**
 * Bytes that a process may hold at once. Over the budget a request waits. Requests are served in
 * the order of their arrival, except that one over its owner's share is skipped. So it delays no
 * later request, but smaller ones of the same owner may overtake it until `waitMs` have passed.
 */
export function createByteBudget(bounds: Bounds): ByteBudget {
  const { maxBytes, ownerMaxBytes, waitMs, waitersMaxBytes = Number.POSITIVE_INFINITY } = bounds;
  const heldByOwner = createTally();
  const waiters = new Set<Waiter>();
  let held = 0;

  function hold(owner: string, bytes: number): void {
    held += bytes;
    heldByOwner.add(owner, bytes);
  }

  function serveWaiters(): void {
    for (const waiter of waiters) {
      const { owner, bytes, start } = waiter;
      if (heldByOwner.count(owner) + bytes > ownerMaxBytes) continue;
      if (held + bytes > maxBytes) return;
      waiters.delete(waiter);
      hold(owner, bytes);
      start();
    }
  }

  return {
    reserve: (owner, bytes, { waitingBytes } = { waitingBytes: bytes }) =>
      new Promise((resolve) => {
        const waiter: Waiter = { owner, bytes, waitingBytes, start };
        const timer = setTimeout(giveUp, waitMs);
        function start(): void {
          clearTimeout(timer);
          resolve(
            once(() => {
              hold(owner, -bytes);
              serveWaiters();
            }),
          );
        }
        function giveUp(): void {
          clearTimeout(timer);
          waiters.delete(waiter);
          resolve(null);
          serveWaiters();
        }
        waiters.add(waiter);
        serveWaiters();
        if (waiters.has(waiter) && sizeOf(waiters) > waitersMaxBytes) giveUp();
      }),
  };
}

function sizeOf(waiters: Set<Waiter>): number {
  let sum = 0;
  for (const { waitingBytes } of waiters) sum += waitingBytes;
  return sum;
}
