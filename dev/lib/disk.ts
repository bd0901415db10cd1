import { statfsSync } from 'node:fs';
import { CannotGoOn } from './setup-error.ts';

const GiB = 1024 ** 3;
const buildNeedsBytes = 6 * GiB;

/** Building fails half-way on a full disk; refusing before it starts leaves nothing behind. */
export function needRoomToBuild(folder: string, what: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= buildNeedsBytes) return;
  throw new CannotGoOn(
    `${folder} has ${(free / GiB).toFixed(1)} GiB free; ${what} needs ${buildNeedsBytes / GiB} GiB. ` +
      'Make room, or move the folders with FLOWRUN_DATA and FLOWRUN_CACHE.',
  );
}
