import { totalmem } from 'node:os';
import { limits } from '../core/limits.ts';

/** For Postgres, Temporal, Redis, the API and the worker, which may share the machine. */
const serviceBytes = 4 * 1024 ** 3;

/** As many default-size sandboxes as fit into memory beside the service itself. */
export function defaultCapacity(): number {
  return capacityFor(Math.min(totalmem(), cgroupMemory()));
}

export function capacityFor(memoryBytes: number): number {
  const free = memoryBytes - serviceBytes;
  return Math.max(1, Math.floor(free / limits.sandbox.memoryBytes));
}

/** The cgroup's memory limit, or infinity without one. */
function cgroupMemory(): number {
  const bytes = process.constrainedMemory();
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY;
}
