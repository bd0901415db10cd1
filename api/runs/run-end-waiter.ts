// Waits for runs to end. A notification triggers a read immediately. A poll reads all awaited runs
// from Postgres, in case a notification is lost.

import { limits } from '../../core/limits.ts';
import type { ApiDeps } from '../deps.ts';

/** Resolves when the run has ended, the time is up, or the signal aborts. */
export type WaitForEnd = (
  runId: string,
  options: { ms: number; signal: AbortSignal },
) => Promise<void>;

type WaitDeps = Pick<ApiDeps, 'frames' | 'frameStream' | 'logger'>;

interface Waiter {
  runId: string;
  end: () => void;
}

/** `closing` stops the poll; each wait ends by its own signal. */
export function createRunEndWaiter(deps: WaitDeps, closing: AbortSignal): WaitForEnd {
  const waiters = new Set<Waiter>();
  const timer = setInterval(() => void check([...waiters]), limits.run.endPollMs);
  timer.unref();
  closing.addEventListener('abort', () => clearInterval(timer));

  async function check(awaited: Waiter[]): Promise<void> {
    if (awaited.length === 0) return;
    try {
      const states = await deps.frames.progressOfRuns([
        ...new Set(awaited.map(({ runId }) => runId)),
      ]);
      for (const { runId, end } of awaited) if (states.get(runId)?.endedAt !== null) end();
    } catch (err) {
      deps.logger.warn({ err }, 'run_wait_poll_failed');
    }
  }

  return (runId, { ms, signal }) =>
    new Promise((resolve) => {
      const waiter = { runId, end };
      const timeout = setTimeout(end, ms);
      const unsubscribe = deps.frameStream.subscribe(runId, ({ kind }) => {
        if (kind === 'state' || kind === 'resync') void check([waiter]);
      });
      waiters.add(waiter);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();

      function end(): void {
        clearTimeout(timeout);
        unsubscribe();
        waiters.delete(waiter);
        signal.removeEventListener('abort', end);
        resolve();
      }
    });
}
