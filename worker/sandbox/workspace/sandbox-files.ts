import type { HostCallPayload, HostCallResult, InputFile } from '../../../core/hosts/host-rpc.ts';
import type { KeyedMutex } from '../../../lib/async/keyed-mutex.ts';
import type { SandboxLease, SnapshotRef } from '../../../systems/postgres/log/lease.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxRegistry } from '../registry.ts';
import { foldersOf } from '../sandbox-paths.ts';
import type { WritePendingFiles } from '../session/run-turn.ts';
import type { HashCache } from './hash-cache.ts';
import { ownedBlobs } from './owned-blobs.ts';
import { snapshotWorkspace } from './snapshot.ts';
import { storeFile } from './store-file.ts';
import { type UnwritableFile, type Written, writeFiles } from './write-files.ts';

/** Operations on the files of a sandbox whose agent may be working in them. */
export interface SandboxFiles {
  store(runId: string, path: string): Promise<HostCallResult<'store_file'>>;
  /**
   * Stores nothing if the storage quota of the project is used up. At the signal it stops between
   * two files; the files stored before remain.
   */
  storeAll(runId: string, signal: AbortSignal): Promise<HostCallResult<'store_files'>>;
  write(
    runId: string,
    files: HostCallPayload<'write_files'>['files'],
  ): Promise<HostCallResult<'write_files'>>;
  /** Discards the files that it returns: they are no longer pending. Safe to repeat. */
  writePendingFiles: WritePendingFiles;
  /** The final snapshot of a run. Any other one comes before it, or not at all. */
  snapshot(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
}

const filesAtOnce = 100;

export function createSandboxFiles(
  deps: SandboxDeps,
  sandboxes: Pick<SandboxRegistry, 'findByRun'>,
  mutex: KeyedMutex,
): SandboxFiles {
  const rootOf = (ref: SandboxRef): string => foldersOf(deps.dataDir, ref).workspace;
  const liveLease = (runId: string): SandboxLease | null => {
    const sandbox = sandboxes.findByRun(runId);
    return sandbox?.isLive() ? sandbox.lease : null;
  };
  const snapshot = (ref: SnapshotRef, options: { hashes?: HashCache; signal?: AbortSignal } = {}) =>
    snapshotWorkspace(deps, { ref, root: rootOf(ref), ...options });

  /** Lists of a directory that changes exceed the quota by one snapshot at most. */
  async function storeWithinQuota(
    runId: string,
    store: (lease: SandboxLease) => Promise<unknown>,
  ): Promise<HostCallResult<'store_files'>> {
    const lease = liveLease(runId);
    if (lease === null) return { outcome: 'gone' };
    if ((await deps.projects.usedUpQuota({ runId })) !== null) return { outcome: 'over_quota' };
    await store(lease);
    return { outcome: 'stored' };
  }
  return {
    async storeAll(runId, signal) {
      const session = sandboxes.findByRun(runId)?.session ?? null;
      // With its conversation, because its next sandbox starts with both.
      if (session !== null) return storeWithinQuota(runId, () => session.save(signal));
      return deps.withFilesLock(runId, () =>
        storeWithinQuota(runId, (lease) => {
          const hashes = sandboxes.findByRun(runId)?.hashes;
          return snapshot(lease, { ...(hashes && { hashes }), signal });
        }),
      );
    },
    writePendingFiles: (lease, messageId) =>
      mutex.runExclusive(`write/${lease.runId}`, () => writePendingFiles(deps, lease, messageId)),
    snapshot: (ref) => deps.withFilesLock(ref.runId, () => snapshot(ref)),
    async store(runId, path) {
      const lease = liveLease(runId);
      if (lease === null) return { outcome: 'gone' };
      const parts = {
        blobs: ownedBlobs(deps.blobs, runId, 'files'),
        usedUpQuota: () => deps.projects.usedUpQuota({ runId }),
        runExclusive: <T>(store: () => Promise<T>) => mutex.runExclusive(`store/${runId}`, store),
      };
      return storeFile(parts, rootOf(lease), path);
    },
    write: (runId, files) =>
      mutex.runExclusive(`write/${runId}`, async () => {
        const lease = liveLease(runId);
        if (lease === null) return { outcome: 'gone' };
        const written = await writeFiles(rootOf(lease), files, contentFrom(deps));
        sandboxes.findByRun(runId)?.noteFilesWritten();
        // If it ended meanwhile, its final snapshot may lack these files.
        return liveLease(runId) === null ? { outcome: 'gone' } : written;
      }),
  };
}

const contentFrom =
  ({ blobs }: Pick<SandboxDeps, 'blobs'>) =>
  ({ sha256 }: InputFile) =>
    blobs.read(sha256);

async function writePendingFiles(
  deps: SandboxDeps,
  lease: SandboxLease,
  messageId: string,
): Promise<UnwritableFile[]> {
  const { workspace } = foldersOf(deps.dataDir, lease);
  const unwritable: UnwritableFile[] = [];
  for (;;) {
    const waiting = await deps.turns.pendingFiles(lease, messageId);
    const some = waiting.slice(0, filesAtOnce);
    if (some.length === 0) return unwritable;
    const written = await writeFiles(workspace, some, contentFrom(deps));
    if (written.outcome === 'rejected') unwritable.push(written);
    if ((await clearPending(deps, lease, { files: some, written })) > 0) continue;
    // Without the lease, the same files would remain pending forever.
    if (unwritable.length > 0) return unwritable;
    throw new Error('the lease is lost, so the files cannot be marked as written');
  }
}

/**
 * Reports files that were written, or the one that cannot be. Returns how many are no longer
 * pending.
 */
async function clearPending(
  { turns }: Pick<SandboxDeps, 'turns'>,
  lease: SandboxLease,
  { files, written }: { files: InputFile[]; written: Written },
): Promise<number> {
  if (written.outcome === 'written') return turns.markFilesWritten(lease, files);
  const conflicting = files.find(({ path }) => path === written.path);
  return conflicting ? turns.discardFile(lease, conflicting) : 0;
}
