// How a sandbox is made to end: an interrupt, so that the agent still says its result; the end of its
// input; SIGTERM; SIGKILL. Callers share one climb; a later one can shorten the retry of it, never
// lengthen it. SIGKILL comes a second after the grace at the latest.

import { failpoint } from '../../../core/failpoint.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import { settlesWithin } from '../../../lib/async/timeout.ts';
import type { AgentInputQueue } from '../input/input-queue.ts';
import { interruptLine } from '../input/stdin-lines.ts';
import type { TurnTracker } from '../input/turn-tracker.ts';

export interface StopTarget {
  input: AgentInputQueue;
  work: Pick<TurnTracker, 'isWorking' | 'finished'> & {
    /** It has said all that it has to say, and goes by itself when its input ends. */
    canExitOnItsOwn(): boolean;
  };
  exited: Promise<unknown>;
  hasExited(): boolean;
  /** False where the container is no longer this process's to end. */
  maySignal(): Promise<boolean>;
  signal(name: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  newId(): string;
}

export interface GracefulStop {
  /** Resolves when the container has exited; rejects where it has not in time. */
  stop(graceMs: number): Promise<void>;
}

const afterTermMs = 750;
/** No process survives it; an engine that is busy, or away, may take its time to say so. */
const afterKillMs = 10_000;
const confirmMs = 250;
const afterResultMs = 2_000;
const checkEveryMs = 100;

export function createGracefulStop(target: StopTarget): GracefulStop {
  let graceEndsAt = Number.POSITIVE_INFINITY;
  let escalating: Promise<void> | null = null;

  /** True when it happened before the grace, as it is by then, was over. */
  async function inGrace(happens: Promise<unknown>, atMostMs: number): Promise<boolean> {
    const end = performance.now() + atMostMs;
    for (;;) {
      const leftMs = Math.min(end, graceEndsAt) - performance.now();
      if (leftMs <= 0) return false;
      if (await settlesWithin(Math.min(leftMs, checkEveryMs), happens)) return true;
    }
  }

  async function escalate(): Promise<void> {
    const { input, work, exited } = target;
    if (target.hasExited()) return;
    if (work.isWorking() && performance.now() < graceEndsAt) {
      input.push(interruptLine(target.newId()));
      failpoint('stop.interrupted');
      await inGrace(Promise.race([work.finished, exited]), Number.POSITIVE_INFINITY);
    }
    input.close();
    failpoint('stop.closed');
    if (work.canExitOnItsOwn() && (await inGrace(exited, afterResultMs))) return;
    if (await signalAndWait('SIGTERM', afterTermMs)) return;
    failpoint('stop.terminated');
    if (await signalAndWait('SIGKILL', afterKillMs)) return failpoint('stop.killed');
    throw new Error('the sandbox has not ended in time');
  }

  async function signalAndWait(name: 'SIGTERM' | 'SIGKILL', waitMs: number): Promise<boolean> {
    if (target.hasExited() || !(await maySignal())) return true;
    // What the engine answers does not matter, only whether the container ends.
    const signalled = target.signal(name).catch(() => undefined);
    return settlesWithin(waitMs, Promise.all([signalled, target.exited]));
  }

  /** A database that does not answer keeps nobody from being stopped. */
  async function maySignal(): Promise<boolean> {
    return Promise.race([target.maySignal(), sleep(confirmMs).then(() => true)]);
  }

  return {
    async stop(graceMs) {
      graceEndsAt = Math.min(graceEndsAt, performance.now() + graceMs);
      escalating ??= escalate().catch((error: unknown) => {
        escalating = null; // the next caller tries again
        throw error;
      });
      await escalating;
    },
  };
}
