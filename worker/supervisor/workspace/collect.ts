import { lstat } from 'node:fs/promises';
import { failpoint } from '../../../core/failpoint.ts';
import type { FileEntry } from '../../../core/file-entry.ts';
import { checkFilePath } from '../../../core/file-path.ts';
import { limits } from '../../../core/limits.ts';
import type { BlobStore } from '../../../systems/postgres/blob-store.ts';
import type { FileStore } from '../../../systems/postgres/file-store.ts';
import type { RunStore } from '../../../systems/postgres/run-store.ts';
import { hashFile, readChunks } from './hash-file.ts';
import { type Found, openFile, walkWorkspace } from './walk.ts';

export interface CollectDeps {
  blobs: Pick<BlobStore, 'put' | 'has'>;
  files: Pick<FileStore, 'replaceSnapshot'>;
  runs: Pick<RunStore, 'recordSnapshot'>;
  now: () => Date;
}

const maxDepth = 64;
const maxEntries = 500_000;
const namedSkipsMax = 1_000;
const putsAtOnce = 4;
const askedAtOnce = 1_000;

/**
 * Stores the files of a working directory: contents first, then the list that names them, whole. What
 * is over a limit or is no plain file is left out, counted, and named as far as there is room. Where
 * the directory is gone, what was stored of it before stays.
 */
export async function collectWorkspace(
  deps: CollectDeps,
  { runId, root }: { runId: string; root: string },
): Promise<{ files: number; skipped: number }> {
  if (!(await isFolder(root))) return { files: 0, skipped: 0 };
  const { entries, skips } = await readEntries(root);
  await storeBlobs(deps.blobs, root, entries);
  failpoint('workspace.stored');
  await deps.files.replaceSnapshot(runId, entries);
  failpoint('workspace.listed');
  await deps.runs.recordSnapshot(runId, {
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

async function readEntries(root: string) {
  const entries: FileEntry[] = [];
  const skips = createSkips();
  let bytesLeft: number = limits.snapshotMaxBytes;
  for await (const found of walkWorkspace(root, { maxDepth, maxEntries, heavy: 'last' })) {
    const reason = refusalOf(found, entries.length);
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

function refusalOf(found: Found, filesSoFar: number): string | null {
  if (found.kind === 'other') return found.reason;
  if (filesSoFar >= limits.snapshotMaxFiles) return 'over the number of files';
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

async function storeBlobs(
  blobs: CollectDeps['blobs'],
  root: string,
  entries: FileEntry[],
): Promise<void> {
  const byContent = [...new Map(entries.map((entry) => [entry.sha256, entry])).values()];
  for (let from = 0; from < byContent.length; from += askedAtOnce) {
    const asked = byContent.slice(from, from + askedAtOnce);
    const present = await blobs.has(asked.map(({ sha256 }) => sha256));
    const missing = asked.filter(({ sha256 }) => !present.has(sha256)).values();
    const put = async (): Promise<void> => {
      for (const entry of missing) await storeBlob(blobs, root, entry);
    };
    await Promise.all(Array.from({ length: putsAtOnce }, put));
  }
}

async function storeBlob(
  blobs: CollectDeps['blobs'],
  root: string,
  { path, sha256, size }: FileEntry,
): Promise<void> {
  const file = await openFile(root, path);
  if (file === null) throw new Error('a file of the workspace went while it was stored');
  try {
    await blobs.put(readChunks(file, size), { sha256, size });
  } finally {
    await file.close();
  }
}
