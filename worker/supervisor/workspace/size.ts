import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Bytes that a tree takes on its disk; null where that cannot be told. The tool walks by descriptor,
 * follows no link, stays on one file system and counts a file with two names once.
 */
export async function diskUsage(path: string, timeoutMs: number): Promise<number | null> {
  try {
    const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 } as const;
    const { stdout } = await promisify(execFile)('du', ['-sxB1', '--', path], options);
    return readTotal(stdout);
  } catch (error) {
    // It complains about what vanished while it looked, and tells the total all the same.
    return readTotal(String((error as { stdout?: unknown }).stdout ?? ''));
  }
}

function readTotal(stdout: string): number | null {
  const total = /^(\d+)\s/.exec(stdout)?.[1];
  return total === undefined ? null : Number(total);
}
