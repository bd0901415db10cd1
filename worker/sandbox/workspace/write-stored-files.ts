import type { FileEntry } from '../../../core/files/file-entry.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import { type Written, writeFiles } from './write-files.ts';

const filesAtOnce = 100;
/** Files up to this size are read together, with one query for a hundred of them. */
const smallBytes = 64 * 1024;

/**
 * Writes any number of files whose contents are blobs. Ends with the first that cannot be written.
 */
export async function writeStoredFiles(
  blobs: Pick<BlobStore, 'read' | 'readSmall'>,
  root: string,
  entries: FileEntry[],
): Promise<Written> {
  for (let from = 0; from < entries.length; from += filesAtOnce) {
    const some = entries.slice(from, from + filesAtOnce);
    const small = await blobs.readSmall(some.filter(isSmall).map(({ sha256 }) => sha256));
    const written = await writeFiles(root, some, ({ sha256 }) => {
      const content = small.get(sha256);
      return content === undefined ? blobs.read(sha256) : single(content);
    });
    if (written.outcome === 'rejected') return written;
  }
  return { outcome: 'written' };
}

const isSmall = ({ size }: FileEntry): boolean => size <= smallBytes;

async function* single(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}
