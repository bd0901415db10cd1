import type { RunOutline } from '../../core/runs/run.ts';
import { sandboxKey } from '../sandbox/sandbox-key.ts';
import type { ReconcilerDeps } from './deps.ts';
import { forEachInTurn } from './for-each-run.ts';

interface ThrottleOptions {
  readPage: (after?: string) => Promise<RunOutline[]>;
  send: (run: RunOutline) => Promise<void>;
  /** A sandbox with another key gets its message at once. */
  keyOf?: (run: RunOutline) => string;
}

/**
 * Each call sends to one page of runs, and to each sandbox at most once per `resendEveryMs`. The
 * first message may have been lost, or its effect may take a while.
 */
export function throttlePerSandbox(
  { logger, now, thresholds }: Pick<ReconcilerDeps, 'logger' | 'now' | 'thresholds'>,
  { readPage, send, keyOf = sandboxKey }: ThrottleOptions,
): () => Promise<void> {
  const sentAt = new Map<string, number>();
  const forEachFound = forEachInTurn(readPage);
  return async () => {
    const at = now().getTime();
    for (const [key, sent] of sentAt) if (sent < at - thresholds.resendEveryMs) sentAt.delete(key);
    await forEachFound({ logger }, async (run) => {
      const key = keyOf(run);
      if (sentAt.has(key)) return;
      await send(run);
      sentAt.set(key, at);
    });
  };
}
