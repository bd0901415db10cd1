import { readdirSync, readFileSync } from 'node:fs';

const tickMs = 10;

/** CPU milliseconds of a process so far, with its threads and its exited children. */
export function cpuMsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const own = threads.reduce((sum, thread) => sum + nanoseconds(pid, thread) / 1e6, 0);
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
  const [user = 0, system = 0] = stat.split(' ').slice(13, 15).map(Number);
  return own + (user + system) * tickMs;
}

/** MiB of memory that a process uses, with its share of what it shares with others. */
export function memoryMibOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss: +(\d+)/m.exec(text)?.[1] ?? Number.NaN) / 1024;
}

/** A thread may end between the listing and the read. */
function nanoseconds(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  } catch {
    return 0;
  }
}
