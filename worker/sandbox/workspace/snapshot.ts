import { lstat } from 'node:fs/promises';
import { failpoint } from '../../../core/failpoint.ts';
import type { Snapshot } from '../../../core/files/file-entry.ts';
import { limits } from '../../../core/limits.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import type { FileStore } from '../../../systems/postgres/files/file-store.ts';
import type { SnapshotRef } from '../../../systems/postgres/log/lease.ts';
import type { RunStore } from '../../../systems/postgres/runs/run-store.ts';
import type { FrameStream } from '../../../systems/redis/frame-stream.ts';
import { readTree } from './read-tree.ts';
import { createSkippedList } from './skipped-entries.ts';
import { storeBlobs } from './store-blobs.ts';

interface SnapshotDeps {
  blobs: Pick<BlobStore, 'put' | 'has'>;
  files: Pick<FileStore, 'replaceSnapshot'>;
  runs: Pick<RunStore, 'recordSnapshot'>;
  frameStream: Pick<FrameStream, 'notify'>;
  now: () => Date;
}

/**
 * Stores a working directory: contents first, then the complete list. Entries over a limit and special files
 * are skipped, counted, and listed up to a bound. If the directory is gone, or a later sandbox exists,
 * the previous snapshot remains.
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
  const list = createSkippedList();
  const tree = await readTree(root, { maxFiles, skipped: list });
  const snapshot = await storeContents(deps.blobs, root, tree);
  const { files, changed } = snapshot;
  for (const path of changed) list.add(path, 'changed while it was stored');
  failpoint('workspace.stored');
  if (!(await deps.files.replaceSnapshot(ref, snapshot))) return { files: 0, skipped: 0 };
  failpoint('workspace.listed');
  const { skippedCount, skipped } = list;
  const hasChanged = await deps.runs.recordSnapshot(ref, {
    at: deps.now().toISOString(),
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    ...{ skippedCount, skipped },
  });
  if (hasChanged) await deps.frameStream.notify(ref.runId);
  return { files: files.length, skipped: skippedCount };
}

async function isFolder(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats !== null && stats.isDirectory();
}

async function storeContents(
  blobs: SnapshotDeps['blobs'],
  root: string,
  tree: Snapshot,
): Promise<Snapshot> {
  const { stored, changed } = await storeBlobs(blobs, root, tree.files);
  return { ...tree, files: stored, changed: [...tree.changed, ...changed] };
}
