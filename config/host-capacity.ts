import { totalmem } from 'node:os';
import { limits } from '../core/limits.ts';

/** As many default-size sandboxes as fit into memory beside the service itself. */
export function defaultCapacity(): number {
  return capacityFor(Math.min(totalmem(), cgroupMemory()));
}

export function capacityFor(memoryBytes: number): number {
  const free = memoryBytes - limits.sandbox.memoryBytes;
  return Math.max(1, Math.floor(free / limits.sandbox.memoryBytes));
}

/** The cgroup's memory limit, or infinity without one. */
function cgroupMemory(): number {
  const bytes = process.constrainedMemory();
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY;
}
