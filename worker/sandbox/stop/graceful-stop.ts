// Stops a sandbox in escalating steps: an interrupt, so that the agent still reports its result,
// the end of its input, SIGTERM and SIGKILL. Concurrent callers share one escalation. A later
// caller can only shorten its grace. SIGKILL is sent at most a second after the grace.

import { failpoint } from '../../../core/failpoint.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import { settlesWithin } from '../../../lib/async/timeout.ts';
import type { AgentInputQueue } from '../input/input-queue.ts';
import type { TurnTracker } from '../input/turn-tracker.ts';

export interface StopTarget {
  input: AgentInputQueue;
  work: Pick<TurnTracker, 'isWorking' | 'finished'> & {
    /** True if it exits without a signal when its input is closed. */
    canExitOnItsOwn(): boolean;
  };
  exited: Promise<unknown>;
  hasExited(): boolean;
  /** False if this process no longer owns the container. */
  maySignal(): Promise<boolean>;
  signal(name: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  newId(): string;
}

export interface GracefulStop {
  /** Resolves when the container has exited. Rejects if it has not exited in time. */
  stop(graceMs: number): Promise<void>;
}

const afterTermMs = 750;
/** No process survives SIGKILL, but a busy or unavailable engine may report the exit late. */
const afterKillMs = 10_000;
const confirmMs = 250;
const afterResultMs = 2_000;
const checkEveryMs = 100;

export function createGracefulStop(target: StopTarget): GracefulStop {
  let graceEndsAt = Number.POSITIVE_INFINITY;
  let escalating: Promise<void> | null = null;

  /** True if it happened before the end of the grace, which may be shortened meanwhile. */
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
      input.interrupt(target.newId());
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
    // The engine's answer does not matter, only the exit.
    const signalled = target.signal(name).catch(() => undefined);
    return settlesWithin(waitMs, Promise.all([signalled, target.exited]));
  }

  /** An unresponsive database must not prevent a stop. */
  async function maySignal(): Promise<boolean> {
    return Promise.race([target.maySignal(), sleep(confirmMs).then(() => true)]);
  }

  return {
    async stop(graceMs) {
      graceEndsAt = Math.min(graceEndsAt, performance.now() + graceMs);
      escalating ??= escalate().catch((error: unknown) => {
        escalating = null; // the next caller retries
        throw error;
      });
      await escalating;
    },
  };
}
