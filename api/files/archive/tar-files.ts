import type { FileEntry } from '../../../core/files/file-entry.ts';
import { limits } from '../../../core/limits.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import { tarEnd, tarHeader, tarPadding, tarredBytes } from './tar-header.ts';

type Blobs = Pick<BlobStore, 'read' | 'readSmall'>;
type Entry = Omit<FileEntry, 'scope'>;

/** Reads at most one chunk of content ahead of its consumer. */
export async function* tarFiles(blobs: Blobs, entries: Entry[]): AsyncGenerator<Buffer> {
  for (const group of groupsOf(entries)) yield* tarGroup(blobs, group);
  yield tarEnd;
}

/** The exact size of the archive. */
export const tarBytes = (entries: Entry[]): number =>
  entries.reduce((sum, entry) => sum + tarredBytes(entry), tarEnd.length);

/** Files whose contents are read with one query. */
const groupFiles = 100;

/** Consecutive files that together fit into one chunk. A larger file is alone. */
function* groupsOf(entries: Entry[]): Generator<Entry[]> {
  let group: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const isFull = group.length === groupFiles || bytes + entry.size > limits.blob.chunkBytes;
    if (group.length > 0 && isFull) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(entry);
    bytes += entry.size;
  }
  if (group.length > 0) yield group;
}

async function* tarGroup(blobs: Blobs, group: Entry[]): AsyncGenerator<Buffer> {
  const contents = await readContents(blobs, group);
  const parts: Buffer[] = [];
  for (const entry of group) {
    const content = contents.get(entry.sha256);
    parts.push(tarHeader(entry));
    if (content === undefined) {
      yield* flush(parts);
      yield* blobs.read(entry.sha256);
    } else {
      parts.push(content);
    }
    parts.push(tarPadding(entry.size));
  }
  yield* flush(parts);
}

/** Empty for a file over a chunk, which is alone in its group and is read in pieces. */
async function readContents(blobs: Blobs, group: Entry[]): Promise<Map<string, Buffer>> {
  const isSmall = group.every(({ size }) => size <= limits.blob.chunkBytes);
  return isSmall ? blobs.readSmall(group.map(({ sha256 }) => sha256)) : new Map<string, Buffer>();
}

function* flush(parts: Buffer[]): Generator<Buffer> {
  yield Buffer.concat(parts.splice(0));
}
