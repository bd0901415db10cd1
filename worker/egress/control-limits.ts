import type { ServerResponse } from 'node:http';
import { limits } from '../../core/limits.ts';

/**
 * Bounds what one sandbox's control requests cost the worker, which serves all sandboxes of its
 * host.
 */
export interface ControlLimits {
  /** Runs one request, or returns the status that refuses it. */
  admit(work: () => Promise<void>): Promise<number | null>;
  /** A single body of any length has room. */
  hasRoom(bytes: number): boolean;
  /**
   * Counts a body until it is read; closes the connection of a slow reader. False if too much is
   * unread.
   */
  reserve(response: ServerResponse, bytes: number): boolean;
  /**
   * Ends the sandbox's previous long poll. The signal is aborted by the next one or at the
   * deadline.
   */
  beginPoll(response: ServerResponse): AbortSignal;
}

export function createControlLimits(now: () => number = () => performance.now()): ControlLimits {
  const takeToken = createBucket(now);
  let inFlight = 0;
  let unreadBytes = 0;
  let poll: AbortController | null = null;
  return { admit, hasRoom, reserve, beginPoll };

  async function admit(work: () => Promise<void>): Promise<number | null> {
    if (!takeToken()) return 429;
    if (inFlight >= limits.control.requestsMax) return 503;
    inFlight += 1;
    try {
      await work();
      return null;
    } finally {
      inFlight -= 1;
    }
  }

  function hasRoom(bytes: number): boolean {
    return unreadBytes === 0 || unreadBytes + bytes <= limits.control.unreadMaxBytes;
  }

  function reserve(response: ServerResponse, bytes: number): boolean {
    if (!hasRoom(bytes)) return false;
    if (response.destroyed) return true;
    unreadBytes += bytes;
    const timer = setTimeout(() => response.req.socket.destroy(), limits.control.readTimeoutMs);
    response.once('close', () => {
      clearTimeout(timer);
      unreadBytes -= bytes;
    });
    return true;
  }

  function beginPoll(response: ServerResponse): AbortSignal {
    poll?.abort();
    const own = new AbortController();
    poll = own;
    const timer = setTimeout(() => own.abort(), limits.control.pollMs);
    const end = (): void => {
      clearTimeout(timer);
      if (poll === own) poll = null;
    };
    own.signal.addEventListener('abort', end, { once: true });
    response.once('close', () => own.abort());
    return own.signal;
  }
}

/** Takes a token; false without one. */
function createBucket(now: () => number): () => boolean {
  const { burst, perSecond } = limits.control;
  let tokens: number = burst;
  let refilledAt = now();
  return () => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - refilledAt) / 1_000) * perSecond);
    refilledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
