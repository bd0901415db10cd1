import type { Logger } from 'pino';
import type { RetryPolicy } from '../../lib/async/retry.ts';

/** Another host has the run, it was ended elsewhere, or this process is shutting down. */
export class SandboxReleased extends Error {
  override name = 'SandboxReleased';
}

/** For as long as this process looks after a sandbox. */
export interface Ownership {
  /** Aborted when it does no more. */
  signal: AbortSignal;
  /** Rejects then. */
  released: Promise<never>;
  /** For what is done until it succeeds, or until nobody looks after the sandbox. */
  retry: RetryPolicy;
  /** Before the sandbox's end; nothing of it is touched from then on. */
  release(why: string): void;
  isReleased(): boolean;
  /** Its end has come and is recorded. */
  finish(): void;
}

export function createOwnership(logger: Logger): Ownership {
  const over = new AbortController();
  let isReleased = false;
  const rejected = new Promise<never>((_resolve, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true });
  });
  rejected.catch(() => undefined); // who waits for it hears of it; there may be nobody
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
