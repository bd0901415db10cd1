import { readFileSync } from 'node:fs';

/**
 * How long the main thread of a process was runnable without a processor. It is close to zero on an
 * idle machine. The waits of several threads overlap, so their sum could exceed the elapsed time.
 */
export function waitedForProcessorMs(pid: number): number {
  const [, waitedNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Math.round(Number(waitedNs) / 1e6);
}

/**
 * Starts a measurement of the main thread: by which factor other programs on the machine have
 * slowed it down since. 1 on an idle machine.
 */
export function measureSlowdown(pid: number): () => number {
  const times = (): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
  const [ranBefore = 0, waitedBefore = 0] = times();
  return () => {
    const [ran = 0, waited = 0] = times();
    return (ran - ranBefore + waited - waitedBefore) / Math.max(1, ran - ranBefore);
  };
}
