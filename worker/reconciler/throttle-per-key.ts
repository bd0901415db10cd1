import type { RunOutline } from '../../core/runs/run.ts';
import { sandboxKey } from '../sandbox/sandbox-key.ts';
import type { ReconcilerDeps } from './deps.ts';
import { forEachInTurn } from './for-each-run.ts';

interface ThrottleOptions {
  readPage: (after?: string) => Promise<RunOutline[]>;
  send: (run: RunOutline) => Promise<void>;
  /** The sandbox by default. A changed key allows a message before `resendEveryMs` has passed. */
  keyOf?: (run: RunOutline) => string;
}

/**
 * Each call sends to one page of runs, and at most one message per key and `resendEveryMs`. The
 * first message may have been lost, or its effect may take a while.
 */
export function throttlePerKey(
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
