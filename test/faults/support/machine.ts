import { readdirSync, readFileSync } from 'node:fs';

/** How long a process had work and no processor: nothing to speak of, where nobody else is at work. */
export function waitedForProcessorMs(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const waits = readdirSync(tasks).map((task) => {
    const [, waitedNs] = readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  });
  return Math.round(waits.reduce((sum, waited) => sum + waited, 0));
}
