import type { RunOutline } from '../../core/runs/run.ts';
import type { ReconcilerDeps } from './deps.ts';
import { forEachInTurn } from './for-each-run.ts';

/**
 * Each call sends to one page of runs, and to each sandbox at most once per `resendEveryMs`. The
 * first message may have been lost, or its effect may take a while.
 */
export function throttlePerRun(
  { logger, now, thresholds }: Pick<ReconcilerDeps, 'logger' | 'now' | 'thresholds'>,
  readPage: (after?: string) => Promise<RunOutline[]>,
  send: (run: RunOutline) => Promise<void>,
): () => Promise<void> {
  const sentAt = new Map<string, number>();
  const forEachFound = forEachInTurn(readPage);
  return async () => {
    const at = now().getTime();
    for (const [sandbox, sent] of sentAt)
      if (sent < at - thresholds.resendEveryMs) sentAt.delete(sandbox);
    await forEachFound({ logger }, async (run) => {
      const sandbox = `${run.runId}/${run.generation}`;
      if (sentAt.has(sandbox)) return;
      await send(run);
      sentAt.set(sandbox, at);
    });
  };
}
