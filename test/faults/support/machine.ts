import { availableParallelism, loadavg } from 'node:os';

/** Only then is a time measured here the service's own, and not the machine's. */
export function isFree(): boolean {
  return (loadavg()[0] ?? 0) < 2 * availableParallelism();
}
