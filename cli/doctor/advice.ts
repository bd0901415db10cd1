import { limits } from '../../core/limits.ts';

// What is said in more than one place, since it is told by a host and found here.

export const setClock =
  'Set the clocks of all machines by NTP. Receivers refuse webhooks whose time is off, and rate limits count wrongly.';

export const startEngine =
  'Start the Docker Engine, or correct DOCKER_HOST and let the worker’s user open that socket. What ran goes on when it is back.';

export const getImage =
  'Build the image or pull it on that machine, or correct SANDBOX_IMAGE. Until then its runs end as container_start_failed.';

export const makeRoom =
  'Make room on the disk of the data folder; `df -h` and `df -i` tell bytes and files. Where what is kept takes it, shorten RUN_RETENTION_DAYS.';

export interface DiskRoom {
  freeBytes: number;
  /** Null where the file system sets no number. */
  freeInodes: number | null;
}

const hasFewFiles = ({ freeInodes }: DiskRoom): boolean =>
  (freeInodes ?? Number.POSITIVE_INFINITY) < limits.diskFreeMinInodes;

export const isShort = (room: DiskRoom): boolean =>
  room.freeBytes < limits.diskFreeMinBytes || hasFewFiles(room);

/** What is left, and the number of files where that is what is short. */
export const leftOn = (room: DiskRoom): string =>
  sizeOf(room.freeBytes) + (hasFewFiles(room) ? ` and room for ${room.freeInodes} files` : '');

const giB = 1024 ** 3;
const miB = 1024 ** 2;

export function sizeOf(bytes: number): string {
  return bytes >= giB ? `${(bytes / giB).toFixed(1)} GiB` : `${(bytes / miB).toFixed(1)} MiB`;
}
