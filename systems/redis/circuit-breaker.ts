import { limits } from '../../core/limits.ts';

interface CircuitBreaker {
  /** Resolves with `failed` at once while the circuit is open. */
  run: <T>(failed: T, call: () => Promise<T>) => Promise<T>;
}

/**
 * While Redis is down, every call costs its whole timeout. After a failure no call is made for
 * `limits.redis.backoffMs`, so that queued calls do not wait one after the other.
 */
export function createCircuitBreaker(): CircuitBreaker {
  let openUntilMs = 0;
  return {
    async run(failed, call) {
      if (performance.now() < openUntilMs) return failed;
      const result = await call();
      if (result === failed) openUntilMs = performance.now() + limits.redis.backoffMs;
      return result;
    },
  };
}
