import { readFileSync } from 'node:fs';

/**
 * How long the main thread of a process was runnable without a processor. It is close to zero on an
 * idle machine. The waits of several threads overlap, so their sum could exceed the elapsed time.
 */
export function waitedForProcessorMs(pid: number): number {
  return Math.round(threadTimes(pid).waitedNs / 1e6);
}

/**
 * Starts a measurement of the main thread: by which factor other programs on the machine have
 * slowed it down since. 1 on an idle machine.
 */
export function measureSlowdown(pid: number): () => number {
  const before = threadTimes(pid);
  return () => slowdownBetween(before, threadTimes(pid));
}

/** By which factor other programs have slowed the main thread down since the process started. */
export function slowdownSinceStart(pid: number): number {
  return slowdownBetween({ ranNs: 0, waitedNs: 0 }, threadTimes(pid));
}

interface ThreadTimes {
  ranNs: number;
  /** Runnable, without a processor. */
  waitedNs: number;
}

function threadTimes(pid: number): ThreadTimes {
  const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
  const [ranNs = 0, waitedNs = 0] = text.split(' ').map(Number);
  return { ranNs, waitedNs };
}

function slowdownBetween(from: ThreadTimes, to: ThreadTimes): number {
  const ranNs = to.ranNs - from.ranNs;
  return (ranNs + to.waitedNs - from.waitedNs) / Math.max(1, ranNs);
}
