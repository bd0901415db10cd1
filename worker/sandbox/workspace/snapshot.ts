import { lstat } from 'node:fs/promises';
import { failpoint } from '../../../core/failpoint.ts';
import type { FileEntry, SkippedEntries, Snapshot } from '../../../core/files/file-entry.ts';
import { limits } from '../../../core/limits.ts';
import type { BlobStore } from '../../../systems/postgres/files/blob-store.ts';
import type { FileStore } from '../../../systems/postgres/files/file-store.ts';
import type { SnapshotRef } from '../../../systems/postgres/log/lease.ts';
import type { RunStore } from '../../../systems/postgres/runs/run-store.ts';
import type { SnapshotRecord } from '../../../systems/postgres/runs/snapshot-record.ts';
import type { FrameStream } from '../../../systems/redis/frame-stream.ts';
import type { HashCache } from './hash-cache.ts';
import { type OwnedBlobs, ownedBlobs } from './owned-blobs.ts';
import { readTree } from './read-tree.ts';
import { createSkippedList } from './skipped-entries.ts';
import { storeBlobs } from './store-blobs.ts';

interface RecordDeps {
  runs: Pick<RunStore, 'recordSnapshot'>;
  frameStream: Pick<FrameStream, 'notify'>;
  now: () => Date;
}

interface SnapshotDeps extends RecordDeps {
  blobs: Pick<BlobStore, 'put' | 'has'>;
  files: Pick<FileStore, 'replaceSnapshot'>;
}

/**
 * Stores a working directory: contents first, then the complete list. If the directory is gone, or
 * a later sandbox exists, the previous snapshot remains.
 */
export async function snapshotWorkspace(
  deps: SnapshotDeps,
  { ref, root, ...options }: { ref: SnapshotRef; root: string } & ReadOptions,
): Promise<{ files: number; skipped: number }> {
  const found = await storeContents(ownedBlobs(deps.blobs, ref.runId, 'files'), root, options);
  if (found === null) return { files: 0, skipped: 0 };
  failpoint('workspace.stored');
  const record = recordOf(deps, found);
  const outcome = await deps.files.replaceSnapshot(ref, found.snapshot, record);
  if (outcome === null) return { files: 0, skipped: 0 };
  found.onListed();
  failpoint('workspace.listed');
  if (outcome === 'listed') await recordSnapshot(deps, ref, record);
  return { files: found.snapshot.files.length, skipped: found.skippedCount };
}

interface StoredContents extends SkippedEntries {
  snapshot: Snapshot;
  /** Call when the snapshot is committed, so that the next one does not read the same again. */
  onListed(): void;
}

interface ReadOptions {
  maxFiles?: number;
  /** Without it, every file is read. */
  hashes?: HashCache | undefined;
  /** Checked between two files. */
  signal?: AbortSignal | undefined;
}

/**
 * Stores the contents of a directory's files. Entries over a limit and special files are skipped,
 * counted, and listed up to a bound. Null if the directory is gone. Rejects at the signal; contents
 * that are stored then remain, so a later call has less to store.
 */
export async function storeContents(
  blobs: OwnedBlobs,
  root: string,
  { maxFiles = limits.snapshot.maxFiles, hashes: cache, signal }: ReadOptions = {},
): Promise<StoredContents | null> {
  if (!(await isFolder(root))) return null;
  const list = createSkippedList();
  const hashes = cache?.begin() ?? null;
  const tree = await readTree(root, { maxFiles, skipped: list, hashes, signal });
  const isStored = ({ sha256 }: FileEntry): boolean => hashes?.isStored(sha256) ?? false;
  const entries = tree.files.filter((entry) => !isStored(entry));
  const { stored, changed: changedSince } = await storeBlobs(blobs, { root, entries, signal });
  const newlyStored = new Set(stored);
  const files = tree.files.filter((entry) => isStored(entry) || newlyStored.has(entry));
  const changed = [...tree.changed, ...changedSince];
  for (const path of changed) list.add(path, 'changed while it was stored');
  const { skippedCount, skipped } = list;
  const onListed = () => hashes?.commit(files);
  return { snapshot: { ...tree, files, changed }, onListed, skippedCount, skipped };
}

export const recordOf = (
  { now }: Pick<RecordDeps, 'now'>,
  { snapshot: { files }, skippedCount, skipped }: StoredContents,
): SnapshotRecord => ({
  at: now().toISOString(),
  files: files.length,
  bytes: files.reduce((sum, { size }) => sum + size, 0),
  ...{ skippedCount, skipped },
});

/** Readers of the log are notified if other entries than before were skipped. */
export async function recordSnapshot(
  { runs, frameStream }: Pick<RecordDeps, 'runs' | 'frameStream'>,
  ref: SnapshotRef,
  record: SnapshotRecord,
): Promise<void> {
  if (await runs.recordSnapshot(ref, record)) await frameStream.notify(ref.runId);
}

export async function isFolder(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats !== null && stats.isDirectory();
}
