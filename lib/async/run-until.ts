import { AsyncLocalStorage } from 'node:async_hooks';

const ends = new AsyncLocalStorage<number>();

/**
 * Does work whose requests have to end by this time of `performance.now()`. Work within this work
 * cannot extend it.
 */
export const runUntil = <T>(endMs: number, work: () => T): T =>
  ends.run(Math.min(endMs, ends.getStore() ?? Infinity), work);

/** The time that is left for requests of the work that calls this: infinite if it has no end. */
export const remainingMs = (): number =>
  Math.max(0, (ends.getStore() ?? Infinity) - performance.now());
