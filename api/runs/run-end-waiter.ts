// Whoever asked for it is answered when a run has ended. A wake says at once that something has
// changed; a tick asks Postgres for all that are waited for, in case nobody was there to say so.

import { limits } from '../../core/limits.ts';
import type { ApiDeps } from '../deps.ts';

/** Resolves when the run has ended, the time is up, or the signal aborts. */
export type WaitForEnd = (
  runId: string,
  within: { ms: number; signal: AbortSignal },
) => Promise<void>;

type WaitDeps = Pick<ApiDeps, 'frames' | 'frameStream' | 'logger'>;

interface Waiter {
  runId: string;
  end: () => void;
}

/** Nothing is looked at any more once `closing` aborts: each wait has a signal of its own. */
export function createRunEndWaiter(deps: WaitDeps, closing: AbortSignal): WaitForEnd {
  const waiters = new Set<Waiter>();
  const tick = setInterval(() => void look([...waiters]), limits.runEndPollMs);
  tick.unref();
  closing.addEventListener('abort', () => clearInterval(tick));

  async function look(at: Waiter[]): Promise<void> {
    if (at.length === 0) return;
    try {
      const states = await deps.frames.progressOfRuns([...new Set(at.map(({ runId }) => runId))]);
      for (const { runId, end } of at) if (states.get(runId)?.endedAt !== null) end();
    } catch (err) {
      deps.logger.warn({ err }, 'run_wait_poll_failed');
    }
  }

  return (runId, { ms, signal }) =>
    new Promise((resolve) => {
      const waiter = { runId, end };
      const timer = setTimeout(end, ms);
      const unsubscribe = deps.frameStream.subscribe(runId, ({ kind }) => {
        if (kind === 'state' || kind === 'resync') void look([waiter]);
      });
      waiters.add(waiter);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();

      function end(): void {
        clearTimeout(timer);
        unsubscribe();
        waiters.delete(waiter);
        signal.removeEventListener('abort', end);
        resolve();
      }
    });
}
