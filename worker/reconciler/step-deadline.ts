// A step that outlasts the lease of its job is repeated by the next leader at the same time. So it
// begins with no further run after some seconds, and its requests to Temporal end before the lease.

import { AsyncLocalStorage } from 'node:async_hooks';
import { limits } from '../../core/limits.ts';
import { runUntil } from '../../lib/async/run-until.ts';

interface StepDeadline {
  /** Whether the step may begin with no further run. */
  isOver(): boolean;
}

const { stepMaxMs, requestMaxMs, leaseMarginMs } = limits.reconciler;

const beginUntil = new AsyncLocalStorage<number>();

/** Takes a step that has to end before this time of `performance.now()`. */
export function withStepDeadline<T>(leaseEndMs: number, step: () => T): T {
  const latestMs = performance.now() + stepMaxMs + requestMaxMs;
  const endMs = Math.min(latestMs, leaseEndMs - leaseMarginMs);
  return beginUntil.run(endMs - requestMaxMs, () => runUntil(endMs, step));
}

/**
 * The deadline of the step that calls this. A part of a step gets a share of the time that is left,
 * so that the other parts are not skipped at every pass.
 */
export function stepDeadline(share = 1): StepDeadline {
  const now = performance.now();
  const untilMs = now + share * ((beginUntil.getStore() ?? now + stepMaxMs) - now);
  return { isOver: () => performance.now() >= untilMs };
}
