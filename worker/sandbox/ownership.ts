import type { Logger } from 'pino';
import type { RetryPolicy } from '../../lib/async/retry.ts';

/** Another host has the run, it was ended elsewhere, or this process is shutting down. */
export class SandboxReleased extends Error {
  override name = 'SandboxReleased';
}

/** Lasts while this process supervises a sandbox. */
export interface Ownership {
  /** Aborted at the release or the end. */
  signal: AbortSignal;
  /** Rejects at the same time. */
  released: Promise<never>;
  /** For operations that are retried until they succeed or the ownership is over. */
  retry: RetryPolicy;
  /** Gives up the sandbox before its end. From then on this process does not touch it. */
  release(why: string): void;
  isReleased(): boolean;
  /** The sandbox has ended, and its end is recorded. */
  finish(): void;
}

export function createOwnership(logger: Logger): Ownership {
  const over = new AbortController();
  let isReleased = false;
  const rejected = new Promise<never>((_resolve, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true });
  });
  rejected.catch(() => undefined); // waiters handle it; there may be none
  return {
    signal: over.signal,
    released: rejected,
    retry: {
      signal: over.signal,
      onFailure: (error, attempt) =>
        logger.warn({ err: error, attempt }, 'sandbox_operation_retried'),
    },
    release(why) {
      if (over.signal.aborted) return;
      isReleased = true;
      logger.warn({ why }, 'sandbox_released');
      over.abort(new SandboxReleased(why));
    },
    isReleased: () => isReleased,
    finish: () => over.abort(new SandboxReleased('it has ended')),
  };
}
