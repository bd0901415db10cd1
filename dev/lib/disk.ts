import { statfsSync } from 'node:fs';
import { SetupError } from './setup-error.ts';

const GiB = 1024 ** 3;
const minFreeBytes = 6 * GiB;

/** Building fails half-way on a full disk; refusing before it starts leaves nothing behind. */
export function requireDiskSpace(folder: string, what: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= minFreeBytes) return;
  throw new SetupError(
    `${folder} has ${(free / GiB).toFixed(1)} GiB free; ${what} needs ${minFreeBytes / GiB} GiB. ` +
      'Make room, or move the folders with FLOWRUN_DATA and FLOWRUN_CACHE.',
  );
}
