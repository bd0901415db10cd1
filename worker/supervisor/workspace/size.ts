import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Bytes that these trees take on their disk; null where that cannot be told. The tool walks by
 * descriptor, follows no link, stays on one file system and counts a file with two names once.
 */
export async function diskUsage(paths: string[], timeoutMs: number): Promise<number | null> {
  try {
    const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 } as const;
    const { stdout } = await promisify(execFile)('du', ['-scxB1', '--', ...paths], options);
    return readTotal(stdout);
  } catch (error) {
    // It complains about what vanished while it looked, and tells the total all the same.
    return readTotal((error as { stdout?: string }).stdout ?? '');
  }
}

/** The total stands last; without it, the tool was cut off. */
function readTotal(stdout: string): number | null {
  const total = /(?:^|\n)(\d+)\ttotal\n$/.exec(stdout)?.[1];
  return total === undefined ? null : Number(total);
}
