import { Buffer } from 'node:buffer';
import { randomFillSync, randomUUID } from 'node:crypto';
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { sizeOf } from '../advice.ts';
import { type Check, checked, type Problem, skipped } from '../types.ts';

const giB = 1024 ** 3;
/** Large, so that the time of one flush does not matter. */
const chunkBytes = 32 * 1024 ** 2;
const chunksMax = 8;
const measureMs = 500;
/** The time for which the reserve of a host's disk must last. */
const reserveSeconds = 2;

/**
 * Compares the reserve of free space with what the disk of DATA_DIR writes meanwhile. Only a
 * warning, because many disks are faster than the default reserve allows, and agents seldom write
 * that fast.
 */
export const diskSpeedCheck: Check = {
  name: 'disk speed',
  needs: ['disk'],
  onError: {
    code: 'disk_speed_unknown',
    message: 'The write speed of the disk of DATA_DIR cannot be measured',
    advice: 'Run the doctor as a user who may write to DATA_DIR.',
  },
  async run({ config: { dataDir, diskReserveBytes } }) {
    if (dataDir === null) return skipped('DATA_DIR is not set here');
    const { bavail, bsize } = await statfs(dataDir);
    // Otherwise a worker could end a sandbox for what is written here.
    if (bavail * bsize < diskReserveBytes + chunksMax * chunkBytes)
      return skipped('less than DISK_RESERVE_BYTES would be free while it is measured');
    const bytesPerSecond = await measureWriteSpeed(dataDir);
    const facts = [`writes ${sizeOf(bytesPerSecond)} per second`];
    const problem = reserveProblem(bytesPerSecond, diskReserveBytes);
    return problem === null ? checked(facts) : checked(facts, problem);
  },
};

export function reserveProblem(bytesPerSecond: number, reserveBytes: number): Problem | null {
  const neededBytes = reserveSeconds * bytesPerSecond;
  if (neededBytes <= reserveBytes) return null;
  return {
    code: 'disk_reserve_small',
    message: `The disk of DATA_DIR writes ${sizeOf(neededBytes)} in ${reserveSeconds} seconds, but DISK_RESERVE_BYTES is ${sizeOf(reserveBytes)}: a sandbox may fill the disk before it is ended.`,
    advice: `Set DISK_RESERVE_BYTES to ${Math.ceil(neededBytes / giB) * giB} or more.`,
    isWarning: true,
  };
}

/** Of the fastest chunk, because other programs write meanwhile. */
async function measureWriteSpeed(dir: string): Promise<number> {
  const path = join(dir, `.write-speed-${randomUUID()}`);
  const file = await open(path, 'wx');
  try {
    // Without a name the file is removed even if this process is killed.
    await unlink(path);
    return await fastestChunk(file);
  } finally {
    await file.close();
  }
}

/** Random bytes, which no file system compresses. Each chunk reaches the disk before the next. */
async function fastestChunk(file: FileHandle): Promise<number> {
  const chunk = randomFillSync(Buffer.allocUnsafe(chunkBytes));
  const began = performance.now();
  let fastest = 0;
  for (let n = 0; n < chunksMax && performance.now() - began < measureMs; n += 1) {
    const from = performance.now();
    await file.writeFile(chunk);
    await file.datasync();
    fastest = Math.max(fastest, (chunkBytes * 1_000) / (performance.now() - from));
  }
  return fastest;
}
