import type { FileHandle } from 'node:fs/promises';
import type { HostCallResult } from '../../../core/hosts/host-rpc.ts';
import { limits } from '../../../core/limits.ts';
import type { UsedUpQuota } from '../../../systems/postgres/accounts/stored-bytes.ts';
import { modeOf, modifiedAtOf } from './entry-attributes.ts';
import { digestOf, readChunks } from './hash-file.ts';
import type { OwnedBlobs } from './owned-blobs.ts';
import { openFile } from './walk.ts';

export interface StoreFileDeps {
  blobs: OwnedBlobs;
  usedUpQuota(): Promise<UsedUpQuota | null>;
  runExclusive<T>(store: () => Promise<T>): Promise<T>;
}

/**
 * Stores the current content of a file. A small file is read once, into memory. A large file is
 * read twice and must not change in between. If it does, this throws, and the call may be retried.
 */
export async function storeFile(
  deps: StoreFileDeps,
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
    const quota = await storeNew(deps, { sha256, size, content });
    if (quota !== null) return { outcome: 'over_quota', ...quota };
    const mode = modeOf(stats);
    const modifiedAt = modifiedAtOf(stats).toISOString();
    return { outcome: 'stored', file: { path, sha256, size, mode, modifiedAt } };
  } finally {
    await file.close();
  }
}

/**
 * One content of a run at a time, so that many downloads at once exceed the quota by one file at
 * most. Null if the content is stored.
 */
function storeNew(
  { blobs, usedUpQuota, runExclusive }: StoreFileDeps,
  { content, ...id }: { sha256: string; size: number; content: Content },
): Promise<UsedUpQuota | null> {
  return runExclusive(async () => {
    if ((await blobs.has([id.sha256])).has(id.sha256)) return null;
    const quota = await usedUpQuota();
    if (quota === null) await blobs.put(content(), id);
    return quota;
  });
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
