import type { ServerResponse } from 'node:http';
import { limits } from '../../core/limits.ts';

/**
 * Why a request was refused: too many in a short time, too many at a time, or too much of the
 * answers is unread.
 */
export type ControlRefusal = 'rate' | 'concurrency' | 'unread';

/**
 * Limits the control requests of one sandbox, because their worker serves all sandboxes of its
 * host.
 */
export interface ControlLimits {
  /** Runs the work of one request. Returns null, or the status of a request that is refused. */
  admit(work: () => Promise<void>): Promise<number | null>;
  /** Whether a body may be sent. One of any length may, while no other is unread. */
  hasRoom(bytes: number): boolean;
  /**
   * Counts a body as unread until its response closes, and disconnects a reader that takes too
   * long. False if the limit of unread bytes is reached; then nothing is counted.
   */
  reserve(response: ServerResponse, bytes: number): boolean;
  /**
   * Ends the sandbox's previous long poll. The signal is aborted when the next one begins, at the
   * deadline, or when the response closes.
   */
  beginPoll(response: ServerResponse): AbortSignal;
}

export function createControlLimits(
  countRefusal: (reason: ControlRefusal) => void = () => undefined,
  now: () => number = () => performance.now(),
): ControlLimits {
  const takeToken = createBucket(now);
  let inFlight = 0;
  let unreadBytes = 0;
  let poll: AbortController | null = null;
  return { admit, hasRoom, reserve, beginPoll };

  async function admit(work: () => Promise<void>): Promise<number | null> {
    if (!takeToken()) return refuse('rate');
    if (inFlight >= limits.control.requestsMax) return refuse('concurrency');
    inFlight += 1;
    try {
      await work();
      return null;
    } finally {
      inFlight -= 1;
    }
  }

  function refuse(reason: ControlRefusal): number {
    countRefusal(reason);
    return reason === 'rate' ? 429 : 503;
  }

  function hasRoom(bytes: number): boolean {
    if (unreadBytes === 0 || unreadBytes + bytes <= limits.control.unreadMaxBytes) return true;
    countRefusal('unread');
    return false;
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

/** A token bucket. The function takes a token, and returns false if there is none. */
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
