import { sleep } from './sleep.ts';

export interface RetryPolicy {
  signal: AbortSignal;
  onFailure(error: unknown, attempt: number): void;
}

const firstDelayMs = 100;
const maxDelayMs = 5_000;

/**
 * Retries until the work succeeds. For work that must not be lost while a dependency is down.
 * Rejects with the signal's reason once the signal aborts.
 */
export async function retryUntilAborted<T>(
  work: () => Promise<T>,
  { signal, onFailure }: RetryPolicy,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      onFailure(error, attempt);
      await sleep(Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1)), signal);
    }
  }
}
