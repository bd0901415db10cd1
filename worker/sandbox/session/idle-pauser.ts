import type { Logger } from 'pino';
import { type RetryPolicy, retryUntilAborted } from '../../../lib/async/retry.ts';
import type { Sandboxes } from '../../../systems/docker/sandbox.ts';

/** Pauses a sandbox whose agent has nothing to do: an idle one costs a hundredth of a processor. */
export interface IdlePauser {
  /** There is nothing to do, as far as is known. */
  markIdle(): void;
  /** Resolves when the sandbox runs; it is not paused before the next rest. */
  resume(): Promise<void>;
  /** Somebody says that there is something to do: one that rests runs where that is so, and goes on resting. */
  prewarm(): void;
}

type Engine = Pick<Sandboxes, 'pause' | 'unpause'>;

interface IdlePauserOptions {
  containerId: string | null;
  afterMs: number;
  /** False while the agent has something to do by itself. */
  mayPause(): boolean;
  /** False once another is known to look after it: whoever was frozen meanwhile pauses nothing. */
  isHeld(): Promise<boolean>;
  /** Throws where that cannot be known. */
  hasWork(): Promise<boolean>;
}

export function createIdlePauser(
  { sandboxes, logger }: { sandboxes: Engine; logger: Logger },
  { containerId, afterMs, mayPause, isHeld, hasWork }: IdlePauserOptions,
  signal: AbortSignal,
): IdlePauser {
  if (containerId === null) return neverPause;
  const onFailure = (err: unknown): void => logger.warn({ err }, 'sandbox_unpause_failed');
  const sandbox = createPausable(sandboxes, containerId, { signal, onFailure });
  const timer = createTimer(afterMs, signal);
  let isIdle = false;
  let last: Promise<unknown> = Promise.resolve();

  /** On a busy machine a container cannot always be frozen; the next time it can. */
  async function pauseIfIdle(): Promise<void> {
    if (!(await isHeld()) || !isIdle) return;
    try {
      await sandbox.pause();
    } catch (err) {
      logger.debug({ err }, 'sandbox_pause_failed');
      if (isIdle) rest();
    }
  }

  /** Only by Postgres's own word: a host that it does not hear holds its sandboxes still. */
  async function prewarmIfDue(): Promise<void> {
    if (!isIdle || !sandbox.mayBePaused()) return;
    const [isDue, isOurs] = await Promise.all([hasWork(), isHeld()]);
    if (!isDue || !isOurs || !isIdle || signal.aborted) return;
    await sandbox.unpause();
    if (isIdle) rest();
  }

  function rest(): void {
    isIdle = true;
    timer.set(() => {
      if (!mayPause()) return rest();
      last = last.then(pauseIfIdle);
    });
  }

  return {
    markIdle: rest,
    prewarm() {
      if (!isIdle) return;
      rest();
      last = last
        .then(prewarmIfDue)
        .catch((err) => logger.debug({ err }, 'sandbox_prewarm_failed'));
    },
    async resume() {
      timer.cancel();
      isIdle = false;
      const woken = last.then(sandbox.ensureUnpaused);
      last = woken.catch(() => undefined);
      await woken;
    },
  };
}

const neverPause: IdlePauser = {
  markIdle: () => undefined,
  prewarm: () => undefined,
  resume: async () => undefined,
};

/** Whether it sleeps is not known at the beginning: an earlier life of this process may have paused it. */
function createPausable(sandboxes: Engine, containerId: string, on: RetryPolicy) {
  let mayBePaused = true;
  async function unpause(): Promise<void> {
    await sandboxes.unpause(containerId);
    mayBePaused = false;
  }
  return {
    mayBePaused: () => mayBePaused,
    async pause(): Promise<void> {
      mayBePaused = true;
      await sandboxes.pause(containerId);
    },
    unpause,
    /** Of one that is awake nothing is asked, not even whether anybody still looks after it. */
    async ensureUnpaused(): Promise<void> {
      if (mayBePaused) await retryUntilAborted(unpause, on);
    },
  };
}

/** Rings once, and not at all after the signal. */
function createTimer(afterMs: number, signal: AbortSignal) {
  let timer: NodeJS.Timeout | null = null;
  const cancel = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  signal.addEventListener('abort', cancel, { once: true });
  return {
    cancel,
    set(ring: () => void): void {
      cancel();
      if (signal.aborted) return;
      timer = setTimeout(ring, afterMs);
      timer.unref();
    },
  };
}
