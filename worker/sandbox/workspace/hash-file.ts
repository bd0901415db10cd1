import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { FileEntry } from '../../../core/files/file-entry.ts';
import { openFile } from './walk.ts';

type Hashed = { outcome: 'hashed'; entry: FileEntry } | { outcome: 'skipped'; reason: string };

const chunkBytes = 256 * 1024;
export const permissionBits = 0o777;

/** Hashes a file. A file that has a second name or changes meanwhile is skipped. */
export async function hashFile(root: string, path: string, maxBytes: number): Promise<Hashed> {
  const file = await openFile(root, path);
  if (file === null) return { outcome: 'skipped', reason: 'gone' };
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { outcome: 'skipped', reason: 'not a file' };
    if (stats.nlink > 1) return { outcome: 'skipped', reason: 'has a second name' };
    if (stats.size > maxBytes) return { outcome: 'skipped', reason: 'over the size limit' };
    const { sha256, read } = await digestOf(readChunks(file, stats.size));
    if (read !== stats.size) return { outcome: 'skipped', reason: 'changed while it was read' };
    const { size, mtime: modifiedAt } = stats;
    const mode = stats.mode & permissionBits;
    return { outcome: 'hashed', entry: { path, size, sha256, mode, scope: 'run', modifiedAt } };
  } finally {
    await file.close();
  }
}

export async function digestOf(
  content: AsyncIterable<Buffer>,
): Promise<{ sha256: string; read: number }> {
  const hash = createHash('sha256');
  let read = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    read += chunk.length;
  }
  return { sha256: hash.digest('hex'), read };
}

/** The first bytes of a file, or fewer if it has become shorter. */
export async function* readChunks(file: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, bytes - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
