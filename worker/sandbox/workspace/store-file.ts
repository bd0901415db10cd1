import type { FileHandle } from 'node:fs/promises';
import type { HostCallResult } from '../../../core/hosts/host-rpc.ts';
import { limits } from '../../../core/limits.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import { modeOf, modifiedAtOf } from './entry-attributes.ts';
import { digestOf, readChunks } from './hash-file.ts';
import { openFile } from './walk.ts';

/**
 * Stores the current content of a file. A small file is read once, into memory. A large file is
 * read twice and must not change in between. If it does, this throws, and the call may be retried.
 */
export async function storeFile(
  blobs: Pick<BlobStore, 'put' | 'has'>,
  root: string,
  path: string,
): Promise<HostCallResult<'store_file'>> {
  const file = await openFile(root, path);
  if (file === null) return { outcome: 'missing' };
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { outcome: 'missing' };
    const limit = limits.snapshot.maxBytes;
    if (stats.size > limit) return { outcome: 'too_large', size: stats.size, limit };
    const isSmall = stats.size <= limits.file.maxBytes;
    const content = isSmall ? await intoMemory(file, stats.size) : fromDisk(file, stats.size);
    const { sha256, read: size } = await digestOf(content());
    if (!isSmall && size !== stats.size)
      throw new Error('the file was truncated while it was read');
    if (!(await blobs.has([sha256])).has(sha256)) await blobs.put(content(), { sha256, size });
    const mode = modeOf(stats);
    const modifiedAt = modifiedAtOf(stats).toISOString();
    return { outcome: 'stored', file: { path, sha256, size, mode, modifiedAt } };
  } finally {
    await file.close();
  }
}

type Content = () => AsyncIterable<Buffer>;

const fromDisk =
  (file: FileHandle, size: number): Content =>
  () =>
    readChunks(file, size);

async function intoMemory(file: FileHandle, size: number): Promise<Content> {
  const chunks: Buffer[] = [];
  for await (const chunk of readChunks(file, size)) chunks.push(chunk);
  return async function* content() {
    yield* chunks;
  };
}
