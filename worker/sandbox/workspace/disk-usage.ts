import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface DiskUsage {
  bytes: number;
  /** Files, folders and other directory entries. */
  inodes: number;
}

/**
 * Measures these trees. Null if `du` fails, `timeout` if it takes too long. `du` walks by
 * descriptor, follows no links, stays on one file system and counts a file with two names once.
 */
export async function diskUsage(
  paths: string[],
  timeoutMs: number,
): Promise<DiskUsage | 'timeout' | null> {
  const bytes = await total(['-B1'], paths, timeoutMs);
  if (typeof bytes !== 'number') return bytes;
  const inodes = await total(['--inodes'], paths, timeoutMs);
  return typeof inodes === 'number' ? { bytes, inodes } : inodes;
}

async function total(
  flags: string[],
  paths: string[],
  timeoutMs: number,
): Promise<number | 'timeout' | null> {
  try {
    const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 } as const;
    const { stdout } = await promisify(execFile)('du', ['-scx', ...flags, '--', ...paths], options);
    return readTotal(stdout);
  } catch (error) {
    // It fails for files that vanish meanwhile, but still prints the total.
    const { stdout = '', killed = false } = error as { stdout?: string; killed?: boolean };
    return readTotal(stdout) ?? (killed ? 'timeout' : null);
  }
}

/** The total is the last line. Without it, `du` was aborted. */
function readTotal(stdout: string): number | null {
  const sum = /(?:^|\n)(\d+)\ttotal\n$/.exec(stdout)?.[1];
  return sum === undefined ? null : Number(sum);
}
