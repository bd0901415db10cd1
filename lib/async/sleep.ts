import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves after the time, or as soon as one of the signals aborts; never rejects. Removes its own
 * listeners: `AbortSignal.any` on a signal that lives as long as the process would leak one per
 * call.
 */
export async function sleep(ms: number, ...signals: AbortSignal[]): Promise<void> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const signal of signals) signal.addEventListener('abort', interrupt);
  if (signals.some(({ aborted }) => aborted)) interrupt();
  await delay(ms, undefined, { signal: interrupted.signal }).catch(() => undefined);
  for (const signal of signals) signal.removeEventListener('abort', interrupt);
}
