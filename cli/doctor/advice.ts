import { limits } from '../../core/limits.ts';

// Advice that several checks give: hosts report the same problems that the doctor finds locally.

export const setClock =
  'Synchronize the clocks of all machines with NTP. Receivers reject webhooks with a wrong timestamp, and rate limits are miscounted.';

export const startEngine =
  'Start the Docker Engine, or correct DOCKER_HOST and give the worker’s user access to that socket. Running sandboxes are picked up again when the engine is back.';

export const provideImage =
  'Build or pull the image on that machine, or correct SANDBOX_IMAGE. Until then its runs end with container_start_failed.';

export const freeDiskSpace =
  'Free space on the disk of DATA_DIR (see `df -h` and `df -i`). If retained logs and files fill it, lower RUN_RETENTION_DAYS.';

interface DiskSpace {
  freeBytes: number;
  /** Null if the file system has no inode limit. */
  freeInodes: number | null;
}

const hasFewFiles = ({ freeInodes }: DiskSpace): boolean =>
  (freeInodes ?? Number.POSITIVE_INFINITY) < limits.host.diskFreeMinInodes;

export const isShort = (disk: DiskSpace): boolean =>
  disk.freeBytes < limits.host.diskFreeMinBytes || hasFewFiles(disk);

/** The free bytes, and the free inodes if these are short. */
export const freeSpaceOf = (disk: DiskSpace): string =>
  sizeOf(disk.freeBytes) + (hasFewFiles(disk) ? ` and ${disk.freeInodes} inodes` : '');

const giB = 1024 ** 3;
const miB = 1024 ** 2;

export function sizeOf(bytes: number): string {
  return bytes >= giB ? `${(bytes / giB).toFixed(1)} GiB` : `${(bytes / miB).toFixed(1)} MiB`;
}
