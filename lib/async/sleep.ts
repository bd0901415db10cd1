import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves after the time, or as soon as one of the signals aborts; never rejects. Pauses follow each
 * other for as long as the process lives: with `AbortSignal.any`, a signal that does so, too, would
 * keep something of every one.
 */
export async function sleep(ms: number, ...signals: AbortSignal[]): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  for (const signal of signals) signal.addEventListener('abort', end);
  if (signals.some(({ aborted }) => aborted)) end();
  await delay(ms, undefined, { signal: over.signal }).catch(() => undefined);
  for (const signal of signals) signal.removeEventListener('abort', end);
}

/** Waits for a promise, but no longer than this. True when it settled in time. */
export async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const late = new AbortController();
  const settled = promise.then(
    () => true,
    () => true,
  );
  const timeout = sleep(ms, late.signal).then(() => false);
  const inTime = await Promise.race([settled, timeout]);
  late.abort();
  return inTime;
}

export interface RetryPolicy {
  signal: AbortSignal;
  onFailure(error: unknown, attempt: number): void;
}

const firstDelayMs = 100;
const maxDelayMs = 5_000;

/**
 * Does it until it succeeds: for what must not be lost while a system that it needs is away. Rejects
 * with the signal's reason once nobody wants it any more.
 */
export async function retryUntilAborted<T>(work: () => Promise<T>, on: RetryPolicy): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    on.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      on.onFailure(error, attempt);
      await sleep(Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1)), on.signal);
    }
  }
}
