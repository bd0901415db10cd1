import { statfsSync } from 'node:fs';
import { SetupError } from './setup-error.ts';

const GiB = 1024 ** 3;
const minFreeBytes = 10 * GiB;

/** Throws before a build starts, because a build that fills the disk leaves files behind. */
export function requireDiskSpace(folder: string, what: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= minFreeBytes) return;
  throw new SetupError(
    `${folder} has ${(free / GiB).toFixed(1)} GiB free; ${what} needs ${minFreeBytes / GiB} GiB. ` +
      'Free some space, or set FLOWRUN_DATA and FLOWRUN_CACHE to folders on another disk.',
  );
}
