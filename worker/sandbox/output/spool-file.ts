import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';

/**
 * The agent's output file, read through one descriptor that was opened before the agent started. A
 * file that replaces it later is never opened.
 */
export interface SpoolFile {
  path: string;
  /** Reads at most the buffer's length. Returns 0 at the current end. */
  read(buffer: Buffer, offset: number): Promise<number>;
  size(): Promise<number>;
  /** Detects tampering with the file since it was opened. */
  tampering(readOffset: number): Promise<'spool_truncated' | 'spool_replaced' | null>;
  close(): Promise<void>;
}

export async function openSpoolFile(path: string): Promise<SpoolFile> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags);
  const opened = await file.stat();
  if (!opened.isFile()) {
    await file.close();
    throw new Error(`the spool is not a regular file: ${path}`);
  }
  return {
    path,
    read: async (buffer, offset) => (await file.read(buffer, 0, buffer.length, offset)).bytesRead,
    size: async () => (await file.stat()).size,
    tampering: (readOffset) => findTampering(file, { path, readOffset, inode: opened.ino }),
    close: () => file.close(),
  };
}

async function findTampering(
  file: FileHandle,
  { path, readOffset, inode }: { path: string; readOffset: number; inode: number },
): Promise<'spool_truncated' | 'spool_replaced' | null> {
  if ((await file.stat()).size < readOffset) return 'spool_truncated';
  const current = await lstat(path).catch(() => null);
  return current?.ino === inode && current.isFile() ? null : 'spool_replaced';
}
