import { lstat } from 'node:fs/promises';
import { failpoint } from '../../../core/failpoint.ts';
import type { FileEntry } from '../../../core/files/file-entry.ts';
import { checkFilePath } from '../../../core/files/file-path.ts';
import { limits } from '../../../core/limits.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import type { FileStore } from '../../../systems/postgres/files/file-store.ts';
import type { SnapshotRef } from '../../../systems/postgres/log/lease.ts';
import type { RunStore } from '../../../systems/postgres/runs/run-store.ts';
import { digestOf, hashFile, readChunks } from './hash-file.ts';
import { type Found, openFile, walkWorkspace } from './walk.ts';

interface SnapshotDeps {
  blobs: Pick<BlobStore, 'put' | 'has'>;
  files: Pick<FileStore, 'replaceSnapshot'>;
  runs: Pick<RunStore, 'recordSnapshot'>;
  now: () => Date;
}

const maxDepth = 64;
const maxEntries = 500_000;
const namedSkipsMax = 1_000;
const putsAtOnce = 4;
const blobsPerQuery = 1_000;
const changed = 'changed while it was stored';

/**
 * Stores the files of a working directory: contents first, then the complete list. Files over a limit and
 * special files are skipped, counted, and listed up to a bound. If the directory is gone, or a later
 * sandbox exists, the previous snapshot remains.
 */
export async function snapshotWorkspace(
  deps: SnapshotDeps,
  {
    ref,
    root,
    maxFiles = limits.snapshot.maxFiles,
  }: { ref: SnapshotRef; root: string; maxFiles?: number },
): Promise<{ files: number; skipped: number }> {
  if (!(await isFolder(root))) return { files: 0, skipped: 0 };
  const { entries: found, skips } = await readEntries(root, maxFiles);
  const entries = await storeBlobs(deps.blobs, root, found);
  const stored = new Set(entries);
  for (const entry of found) if (!stored.has(entry)) skips.add(entry.path, changed);
  failpoint('workspace.stored');
  if (!(await deps.files.replaceSnapshot(ref, entries))) return { files: 0, skipped: 0 };
  failpoint('workspace.listed');
  await deps.runs.recordSnapshot(ref, {
    at: deps.now().toISOString(),
    files: entries.length,
    bytes: entries.reduce((sum, { size }) => sum + size, 0),
    skippedCount: skips.count(),
    skipped: skips.named,
  });
  return { files: entries.length, skipped: skips.count() };
}

async function isFolder(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats !== null && stats.isDirectory();
}

async function readEntries(root: string, maxFiles: number) {
  const entries: FileEntry[] = [];
  const skips = createSkips();
  let bytesLeft: number = limits.snapshot.maxBytes;
  for await (const found of walkWorkspace(root, { maxDepth, maxEntries, heavy: 'last' })) {
    const reason = skipReason(found, entries.length >= maxFiles);
    if (reason !== null) {
      skips.add(found.path, reason);
      continue;
    }
    const hashed = await hashFile(root, found.path, bytesLeft);
    if (hashed.outcome === 'skipped') {
      skips.add(found.path, hashed.reason);
    } else {
      bytesLeft -= hashed.entry.size;
      entries.push(hashed.entry);
    }
  }
  return { entries, skips };
}

function skipReason(found: Found, isFull: boolean): string | null {
  if (found.kind === 'other') return found.reason;
  if (isFull) return 'over the number of files';
  const check = checkFilePath(found.path);
  return check.ok ? null : `its path ${check.reason}`;
}

function createSkips() {
  const named: { path: string; reason: string }[] = [];
  let count = 0;
  return {
    named,
    count: () => count,
    add(path: string, reason: string): void {
      count += 1;
      if (named.length < namedSkipsMax) named.push({ path: path.slice(0, 1_024), reason });
    },
  };
}

/** Returns the entries whose content is stored. The agent may have changed or removed the others. */
async function storeBlobs(
  blobs: SnapshotDeps['blobs'],
  root: string,
  entries: FileEntry[],
): Promise<FileEntry[]> {
  const byContent = groupByContent(entries);
  const contents = [...byContent.keys()];
  const lost = new Set<string>();
  for (let from = 0; from < contents.length; from += blobsPerQuery) {
    const hashes = contents.slice(from, from + blobsPerQuery);
    const stored = await blobs.has(hashes);
    const missing = hashes.filter((sha256) => !stored.has(sha256)).values();
    const put = async (): Promise<void> => {
      for (const sha256 of missing) {
        if (!(await storeAny(blobs, root, byContent.get(sha256) ?? []))) lost.add(sha256);
      }
    };
    await Promise.all(Array.from({ length: putsAtOnce }, put));
  }
  return entries.filter(({ sha256 }) => !lost.has(sha256));
}

function groupByContent(entries: FileEntry[]): Map<string, FileEntry[]> {
  const groups = new Map<string, FileEntry[]>();
  for (const entry of entries) {
    const group = groups.get(entry.sha256);
    if (group) group.push(entry);
    else groups.set(entry.sha256, [entry]);
  }
  return groups;
}

/** Stores the first of these files that still has the content. */
async function storeAny(
  blobs: SnapshotDeps['blobs'],
  root: string,
  entries: FileEntry[],
): Promise<boolean> {
  for (const entry of entries) if (await storeBlob(blobs, root, entry)) return true;
  return false;
}

async function storeBlob(
  blobs: SnapshotDeps['blobs'],
  root: string,
  { path, sha256, size }: FileEntry,
): Promise<boolean> {
  const file = await openFile(root, path);
  if (file === null) return false;
  try {
    await blobs.put(readChunks(file, size), { sha256, size });
    return true;
  } catch (error) {
    const now = await digestOf(readChunks(file, size));
    if (now.sha256 === sha256 && now.read === size) throw error;
    return false; // the file has changed
  } finally {
    await file.close();
  }
}
