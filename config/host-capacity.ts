import { totalmem } from 'node:os';
import { limits } from '../core/limits.ts';

/** As many sandboxes of the usual size as the machine's memory holds beside the service itself. */
export function defaultCapacity(): number {
  return capacityFor(Math.min(totalmem(), memoryOfGroup()));
}

export function capacityFor(memoryBytes: number): number {
  const free = memoryBytes - limits.sandboxMemoryBytes;
  return Math.max(1, Math.floor(free / limits.sandboxMemoryBytes));
}

/** What the control group allows; no bound where there is none. */
function memoryOfGroup(): number {
  const bytes = process.constrainedMemory();
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY;
}
