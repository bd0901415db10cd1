import { readFileSync } from 'node:fs';

/**
 * How long a process had work and no processor: nothing to speak of, where nobody else is at work. Of
 * its main thread alone: what several threads wait for passes at the same time, and may be longer than
 * the time itself.
 */
export function waitedForProcessorMs(pid: number): number {
  const [, waitedNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Math.round(Number(waitedNs) / 1e6);
}
