import { digestOf, readChunks } from './hash-file.ts';
import type { OwnedBlobs } from './owned-blobs.ts';
import { openFile } from './walk.ts';

const putsAtOnce = 4;
const blobsPerQuery = 1_000;

/** The content of a file, or of its end. */
interface Content {
  path: string;
  /** Hex. */
  sha256: string;
  size: number;
  /** The position of the first byte; 0 by default. */
  start?: number;
}

interface StoredBlobs<C> {
  /** The entries whose content is stored. */
  stored: C[];
  /** Files whose content has changed since they were hashed. Removed files are in neither list. */
  changed: string[];
}

interface HashedFiles<C> {
  root: string;
  entries: C[];
  /** Most contents were written just now, so storing them costs less than asking for them first. */
  areNew?: boolean;
  signal?: AbortSignal | undefined;
}

type Missing = Map<Content, 'changed' | 'gone'>;

/** Stores the contents of hashed files. The agent may have changed or removed them since. */
export async function storeBlobs<C extends Content>(
  blobs: OwnedBlobs,
  { root, entries, areNew = false, signal }: HashedFiles<C>,
): Promise<StoredBlobs<C>> {
  const byContent = groupByContent(entries);
  const contents = [...byContent.keys()];
  const missing: Missing = new Map();
  for (let from = 0; from < contents.length; from += blobsPerQuery) {
    const hashes = contents.slice(from, from + blobsPerQuery);
    const stored = areNew ? new Set<string>() : await blobs.has(hashes);
    const unstored = hashes.filter((sha256) => !stored.has(sha256)).values();
    const put = async (): Promise<void> => {
      for (const sha256 of unstored) {
        signal?.throwIfAborted();
        await storeAny(blobs, root, { entries: byContent.get(sha256) ?? [], missing });
      }
    };
    await Promise.all(Array.from({ length: putsAtOnce }, put));
  }
  return {
    stored: entries.filter((entry) => !missing.has(entry)),
    changed: [...missing].flatMap(([{ path }, why]) => (why === 'changed' ? [path] : [])),
  };
}

function groupByContent(entries: Content[]): Map<string, Content[]> {
  const groups = new Map<string, Content[]>();
  for (const entry of entries) {
    const group = groups.get(entry.sha256);
    if (group) group.push(entry);
    else groups.set(entry.sha256, [entry]);
  }
  return groups;
}

/** Stores the first of these files that still has the content. If none has it, all are missing. */
async function storeAny(
  blobs: OwnedBlobs,
  root: string,
  { entries, missing }: { entries: Content[]; missing: Missing },
): Promise<void> {
  const tried: Missing = new Map();
  for (const entry of entries) {
    const outcome = await storeBlob(blobs, root, entry);
    if (outcome === 'stored') return;
    tried.set(entry, outcome);
  }
  for (const [entry, why] of tried) missing.set(entry, why);
}

async function storeBlob(
  blobs: OwnedBlobs,
  root: string,
  { path, sha256, size, start = 0 }: Content,
): Promise<'stored' | 'changed' | 'gone'> {
  const file = await openFile(root, path);
  if (file === null) return 'gone';
  const content = () => readChunks(file, start + size, start);
  try {
    await blobs.put(content(), { sha256, size });
    return 'stored';
  } catch (error) {
    const now = await digestOf(content());
    if (now.sha256 === sha256 && now.read === size) throw error;
    return 'changed';
  } finally {
    await file.close();
  }
}
