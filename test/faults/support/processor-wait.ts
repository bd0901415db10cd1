import { readFileSync } from 'node:fs';

/**
 * How long the main thread of a process was runnable without a processor. It is close to zero on an
 * idle machine. The waits of several threads overlap, so their sum could exceed the elapsed time.
 */
export function waitedForProcessorMs(pid: number): number {
  const [, waitedNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Math.round(Number(waitedNs) / 1e6);
}
