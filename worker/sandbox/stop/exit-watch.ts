import type { Logger } from 'pino';
import { limits } from '../../../core/limits.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';
import { createNotifier } from '../../../lib/async/notifier.ts';
import type { Sandboxes } from '../../../systems/docker/sandboxes.ts';
import type { PauseState } from '../pause-state.ts';

/** The engine's report about a container that has exited. */
export type ContainerExit =
  | { kind: 'exited'; exitCode: number | null; oomKilled: boolean }
  | { kind: 'missing' };

export interface ExitWatch {
  exited: Promise<ContainerExit>;
  /** Undefined until the exit is known. */
  exit(): ContainerExit | undefined;
  /** Queries the engine. Rejects if it does not answer. */
  isRunning(): Promise<boolean>;
  /** The container may have exited: check at once, and again soon. */
  hint(): void;
  stop(): void;
}

const { exitPollMs: pollMs, pausedPollMs } = limits.sandbox;
const fastPollMs = 50;

/**
 * Polls the engine until the container has exited. Events and the entry program's report only
 * trigger an earlier poll. While the engine is unavailable, nothing is concluded. A paused
 * container ends only if it is killed, so it is inspected once after the pause began, then rarely.
 */
export function watchExit(
  { sandboxes, logger }: { sandboxes: Pick<Sandboxes, 'inspect'>; logger: Logger },
  { containerId, pause }: { containerId: string; pause: PauseState },
): ExitWatch {
  const stopping = new AbortController();
  const exited = createDeferred<ContainerExit>();
  const notifier = createNotifier();
  let intervalMs = pollMs;

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const pauseEnd = pause.pauseEnd();
      const found = await tryInspect();
      if (typeof found === 'object') return exited.resolve(found);
      if (found === 'running' && intervalMs === pollMs) await waitWhilePaused(pauseEnd);
      else await waitForNext();
    }
  }

  async function waitForNext(): Promise<void> {
    await notifier.waitAtMost(intervalMs, stopping.signal);
    intervalMs = Math.min(pollMs, intervalMs * 2);
  }

  /** Waits one more interval, so that no inspection delays the message that ended the pause. */
  async function waitWhilePaused(pauseEnd: AbortSignal): Promise<void> {
    if (!pauseEnd.aborted) await notifier.waitAtMost(pausedPollMs, stopping.signal, pauseEnd);
    if (pauseEnd.aborted) await waitForNext();
  }

  async function tryInspect(): Promise<ContainerExit | 'running' | 'unknown'> {
    try {
      return (await inspect()) ?? 'running';
    } catch (error) {
      logger.warn({ err: error }, 'sandbox_inspect_failed');
      return 'unknown';
    }
  }

  async function inspect(): Promise<ContainerExit | null> {
    const { status, exitCode, oomKilled } = await sandboxes.inspect(containerId);
    if (status === 'missing') return { kind: 'missing' };
    return status === 'exited' ? { kind: 'exited', exitCode, oomKilled } : null;
  }

  void watch();
  return {
    exited: exited.promise,
    exit: exited.value,
    isRunning: async () => (await inspect()) === null,
    hint() {
      // Any process in the sandbox can send the hint, at any rate.
      if (intervalMs < pollMs) return;
      intervalMs = fastPollMs;
      notifier.notify();
    },
    stop: () => stopping.abort(),
  };
}

/**
 * False also while the engine does not answer. An engine that is busy with the exit answers when it
 * is done, which can take longer than an agent may produce no output.
 */
export const isKnownToRun = ({ isRunning }: Pick<ExitWatch, 'isRunning'>): Promise<boolean> =>
  isRunning().catch(() => false);

/** For a missing container. */
export const missingExit: ExitWatch = {
  exited: Promise.resolve({ kind: 'missing' }),
  exit: () => ({ kind: 'missing' }),
  isRunning: async () => false,
  hint: () => undefined,
  stop: () => undefined,
};
