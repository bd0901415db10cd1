import type { Logger } from 'pino';
import type { Sandboxes } from '../../../systems/docker/sandbox.ts';
import { insist } from '../wait.ts';

/** Pauses a sandbox whose agent has nothing to do: an idle one costs a hundredth of a processor. */
export interface Nap {
  /** There is nothing to do, as far as is known. */
  rest(): void;
  /** Resolves when the sandbox runs; it is not paused before the next rest. */
  wake(): Promise<void>;
  /** Somebody says that there is something to do: one that rests runs where that is so, and goes on resting. */
  stir(): void;
}

interface NapOf {
  containerId: string | null;
  afterMs: number;
  /** False while the agent has something to do by itself. */
  mayPause(): boolean;
  /** False once another is known to look after it: whoever was frozen meanwhile pauses nothing. */
  isHeld(): Promise<boolean>;
  /** Throws where that cannot be known. */
  hasWork(): Promise<boolean>;
}

export function createNap(
  { sandboxes, logger }: { sandboxes: Pick<Sandboxes, 'pause' | 'unpause'>; logger: Logger },
  { containerId, afterMs, mayPause, isHeld, hasWork }: NapOf,
  signal: AbortSignal,
): Nap {
  // Whether it sleeps is not known at the beginning: an earlier life of this process may have paused it.
  let mayBePaused = true;
  let isResting = false;
  let timer: NodeJS.Timeout | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const cancel = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  signal.addEventListener('abort', cancel, { once: true });

  /** On a busy machine a container cannot always be frozen; the next time it can. */
  async function pauseNow(id: string): Promise<void> {
    if (!(await isHeld()) || !isResting) return;
    mayBePaused = true;
    try {
      await sandboxes.pause(id);
    } catch (err) {
      logger.debug({ err }, 'sandbox_not_paused');
      if (isResting) rest();
    }
  }

  async function unpauseNow(id: string): Promise<void> {
    if (!mayBePaused) return;
    const onFailure = (err: unknown): void => logger.warn({ err }, 'sandbox_not_unpaused');
    await insist(() => sandboxes.unpause(id), { signal, onFailure });
    mayBePaused = false;
  }

  /** Only by Postgres's own word: a host that it does not hear holds its sandboxes still. */
  async function stirNow(id: string): Promise<void> {
    if (!isResting || !mayBePaused) return;
    const [isDue, isOurs] = await Promise.all([hasWork(), isHeld()]);
    if (!isDue || !isOurs || !isResting || signal.aborted) return;
    await sandboxes.unpause(id);
    mayBePaused = false;
    if (isResting) rest();
  }

  function rest(): void {
    if (containerId === null || signal.aborted) return;
    cancel();
    isResting = true;
    timer = setTimeout(() => {
      if (!mayPause()) return rest();
      last = last.then(() => pauseNow(containerId));
    }, afterMs);
    timer.unref();
  }

  return {
    rest,
    stir() {
      if (containerId === null || !isResting) return;
      rest();
      const onFailure = (err: unknown): void => logger.debug({ err }, 'sandbox_not_stirred');
      last = last.then(() => stirNow(containerId)).catch(onFailure);
    },
    async wake() {
      cancel();
      isResting = false;
      if (containerId === null) return;
      const woken = last.then(() => unpauseNow(containerId));
      last = woken.catch(() => undefined);
      await woken;
    },
  };
}
