import type { Logger } from 'pino';
import type { RetryPolicy } from '../../lib/async/retry.ts';

/** Another host has the run, it was ended elsewhere, or this process is shutting down. */
export class SandboxLetGo extends Error {
  override name = 'SandboxLetGo';
}

/** For as long as this process looks after a sandbox. */
export interface Care {
  /** Aborted when it does no more. */
  signal: AbortSignal;
  /** Rejects then. */
  over: Promise<never>;
  /** For what is done until it succeeds, or until nobody looks after the sandbox. */
  patience: RetryPolicy;
  /** Before the sandbox's end; nothing of it is touched from then on. */
  letGo(why: string): void;
  isLetGo(): boolean;
  /** Its end has come and is recorded. */
  finish(): void;
}

export function createCare(logger: Logger): Care {
  const over = new AbortController();
  let isLetGo = false;
  const rejected = new Promise<never>((_resolve, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true });
  });
  rejected.catch(() => undefined); // who waits for it hears of it; there may be nobody
  return {
    signal: over.signal,
    over: rejected,
    patience: {
      signal: over.signal,
      onFailure: (error, attempt) => logger.warn({ err: error, attempt }, 'sandbox_step_failed'),
    },
    letGo(why) {
      if (over.signal.aborted) return;
      isLetGo = true;
      logger.warn({ why }, 'sandbox_let_go');
      over.abort(new SandboxLetGo(why));
    },
    isLetGo: () => isLetGo,
    finish: () => over.abort(new SandboxLetGo('it has ended')),
  };
}
