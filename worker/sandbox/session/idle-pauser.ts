import type { Logger } from 'pino';
import { type RetryPolicy, retryUntilAborted } from '../../../lib/async/retry.ts';
import type { Sandboxes } from '../../../systems/docker/sandboxes.ts';
import type { PauseState } from '../pause-state.ts';

/** Pauses an idle sandbox, because an idle agent uses about 1 % of a processor. */
export interface IdlePauser {
  /** The agent has no work. */
  markIdle(): void;
  /** Resolves when the sandbox runs. It is not paused before the next markIdle. */
  resume(): Promise<void>;
}

type Engine = Pick<Sandboxes, 'pause' | 'unpause'>;

interface IdlePauserOptions {
  containerId: string | null;
  pause: PauseState;
  afterMs: number;
  /**
   * False if the agent has worked without a message since this time of `performance.now()`, and
   * while the host is fenced. Asked again after `isHeld` and after the pause, which may take long.
   */
  mayPause(since: number): boolean;
  /** False if another host has the lease: a process that was frozen meanwhile must not pause. */
  isHeld(): Promise<boolean>;
}

export function createIdlePauser(
  { sandboxes, logger }: { sandboxes: Engine; logger: Logger },
  { containerId, pause, afterMs, mayPause, isHeld }: IdlePauserOptions,
  signal: AbortSignal,
): IdlePauser {
  if (containerId === null) return neverPause;
  const onFailure = (err: unknown): void => logger.warn({ err }, 'sandbox_unpause_failed');
  const sandbox = createPausable({ sandboxes, containerId, pause }, { signal, onFailure });
  const timer = createTimer(afterMs, signal);
  /** When the sandbox became idle; null while it has work. */
  let idleSince: number | null = null;
  let last: Promise<unknown> = Promise.resolve();

  /** A container on a busy host may fail to pause. Then it is tried again later. */
  async function pauseIfIdle(since: number): Promise<void> {
    if (!(await isHeld()) || idleSince !== since) return;
    if (!mayPause(since)) return markIdle();
    try {
      await sandbox.pause();
    } catch (err) {
      logger.debug({ err }, 'sandbox_pause_failed');
      if (idleSince === since) markIdle();
      return;
    }
    // A host that was fenced meanwhile may have paused the sandbox first, and then unpauses it.
    if (mayPause(since)) pause.markPaused();
    else if (idleSince === since) markIdle();
  }

  function markIdle(): void {
    const since = performance.now();
    idleSince = since;
    timer.set(() => {
      if (!mayPause(since)) return markIdle();
      last = last.then(() => pauseIfIdle(since));
    });
  }

  return {
    markIdle,
    async resume() {
      timer.cancel();
      idleSince = null;
      const resumed = last.then(sandbox.ensureUnpaused);
      last = resumed.catch(() => undefined);
      await resumed;
    },
  };
}

const neverPause: IdlePauser = {
  markIdle: () => undefined,
  resume: async () => undefined,
};

interface PausableContainer {
  sandboxes: Engine;
  containerId: string;
  pause: PauseState;
}

/** It may be paused at first, by a previous process. */
function createPausable({ sandboxes, containerId, pause }: PausableContainer, on: RetryPolicy) {
  let mayBePaused = true;
  async function unpause(): Promise<void> {
    // Before the engine's answer, which may be lost although the container runs.
    pause.markRunning();
    await sandboxes.unpause(containerId);
    mayBePaused = false;
  }
  return {
    async pause(): Promise<void> {
      mayBePaused = true;
      await sandboxes.pause(containerId);
    },
    /** Does nothing if it is certainly running, not even check the ownership. */
    async ensureUnpaused(): Promise<void> {
      if (mayBePaused) await retryUntilAborted(unpause, on);
    },
  };
}

/** Fires once, and never after the signal. */
function createTimer(afterMs: number, signal: AbortSignal) {
  let timer: NodeJS.Timeout | null = null;
  const cancel = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  signal.addEventListener('abort', cancel, { once: true });
  return {
    cancel,
    set(fire: () => void): void {
      cancel();
      if (signal.aborted) return;
      timer = setTimeout(fire, afterMs);
      timer.unref();
    },
  };
}
