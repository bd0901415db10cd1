import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { FileEntry } from '../../../core/files/file-entry.ts';
import { hasSpecialBits, modeOf, modifiedAtOf } from './entry-attributes.ts';
import type { HashPass } from './hash-cache.ts';
import { openFile } from './walk.ts';

type Hashed =
  | { outcome: 'hashed'; entry: FileEntry; hasLostBits: boolean }
  | { outcome: 'gone' | 'changed' | 'too_large' };

const chunkBytes = 256 * 1024;

/**
 * Hashes the files of a directory, up to a total size. Hard links of one file are hashed once and
 * get the same group. A file that also has a name outside the directory is stored like any other.
 */
export function createFileHasher(
  root: string,
  { maxBytes, hashes }: { maxBytes: number; hashes: HashPass | null },
): (path: string) => Promise<Hashed> {
  const linked = new Map<string, FileEntry>();
  let bytesLeft = maxBytes;

  async function hash(file: FileHandle, path: string): Promise<Hashed> {
    const stats = await file.stat();
    if (!stats.isFile()) return { outcome: 'changed' };
    const hasLostBits = hasSpecialBits(stats);
    const identity = stats.nlink > 1 ? await identityOf(file) : null;
    const known = identity === null ? undefined : linked.get(identity);
    if (known !== undefined) return { outcome: 'hashed', entry: { ...known, path }, hasLostBits };
    const { size } = stats;
    if (size > bytesLeft) return { outcome: 'too_large' };
    const sha256 = await contentHash(file, size, hashes);
    if (sha256 === null) return { outcome: 'changed' };
    bytesLeft -= size;
    const attributes = { mode: modeOf(stats), modifiedAt: modifiedAtOf(stats) };
    const entry: FileEntry = { path, size, sha256, ...attributes, scope: 'run' };
    if (identity === null) return { outcome: 'hashed', entry, hasLostBits };
    const first = { ...entry, linkGroup: linked.size };
    linked.set(identity, first);
    return { outcome: 'hashed', entry: first, hasLostBits };
  }

  return async (path) => {
    const file = await openFile(root, path);
    if (file === null) return { outcome: 'gone' };
    try {
      return await hash(file, path);
    } finally {
      await file.close();
    }
  };
}

/** Null if the file has become shorter. */
async function contentHash(
  file: FileHandle,
  size: number,
  hashes: HashPass | null,
): Promise<string | null> {
  const known = await hashes?.find(file);
  if (known !== undefined && known.sha256 !== null) return known.sha256;
  const { sha256, read } = await digestOf(readChunks(file, size));
  if (read !== size) return null;
  known?.note(sha256);
  return sha256;
}

/** Read as bigints, because a double may lose the last digits of an inode number. */
async function identityOf(file: FileHandle): Promise<string> {
  const { dev, ino } = await file.stat({ bigint: true });
  return `${dev}:${ino}`;
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

/** The bytes of a file from `start` to `end`, or fewer if it has become shorter. */
export async function* readChunks(
  file: FileHandle,
  end: number,
  start = 0,
): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, end - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
