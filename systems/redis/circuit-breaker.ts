import { limits } from '../../core/limits.ts';

export interface CircuitBreaker {
  /** Answers `failed` at once while Redis is left alone. */
  run: <T>(failed: T, call: () => Promise<T>) => Promise<T>;
}

/**
 * A Redis that does not answer costs each call its whole time-out. After one that failed Redis is
 * left alone for a moment, so that a long queue of calls does not wait for it one by one.
 */
export function createCircuitBreaker(): CircuitBreaker {
  let closedUntilMs = 0;
  return {
    async run(failed, call) {
      if (performance.now() < closedUntilMs) return failed;
      const answer = await call();
      if (answer === failed) closedUntilMs = performance.now() + limits.redisBackoffMs;
      return answer;
    },
  };
}
