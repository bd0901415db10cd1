import { totalmem } from 'node:os';
import { limits } from '../core/limits.ts';
import { wholeNumber } from './variable-types.ts';

/** The resources that the sandboxes of a host may use. */
export const hostResourceVariables = {
  HOST_CAPACITY: wholeNumber({ min: 0, max: 10_000 })
    .default(defaultCapacity)
    .describe('The number of slots of this host, that is, of concurrent sandboxes.'),
  SPOOL_MAX_BYTES: wholeNumber({ min: 1, max: limits.spool.maxBytes })
    .default(limits.spool.maxBytes)
    .describe('The maximum output of a sandbox.'),
  WORKSPACE_MAX_BYTES: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER })
    .default(limits.sandbox.workspaceMaxBytes)
    .describe('The maximum size of a working directory.'),
  WORKSPACE_MAX_INODES: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER })
    .default(limits.sandbox.workspaceMaxInodes)
    .describe('The maximum number of files and directories in a working directory.'),
  DISK_RESERVE_BYTES: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER })
    .default(limits.host.diskReserveBytes)
    .describe(
      'Free space on the disk of `DATA_DIR` that no sandbox may use: what the disk writes in two seconds. With less, the sandbox that writes most is ended; with less than twice as much, the host gets no new work.',
    ),
  DISK_RESERVE_INODES: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER })
    .default(limits.host.diskReserveInodes)
    .describe(
      'The same for free inodes: with fewer, the sandbox that creates most files is ended. Without effect on a file system that has no fixed number of inodes.',
    ),
};

/** For Postgres, Temporal, Redis, the API and the worker, which may share the machine. */
const serviceBytes = 4 * 1024 ** 3;

/** How many sandboxes of the default size fit into memory beside the service itself. */
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
