import type { HostCallPayload, HostCallResult, InputFile } from '../../../core/hosts/host-rpc.ts';
import { coalesce } from '../../../lib/async/coalesce.ts';
import type { KeyedMutex } from '../../../lib/async/keyed-mutex.ts';
import type { SandboxLease, SnapshotRef } from '../../../systems/postgres/log/lease.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps, SupervisorDeps } from '../deps.ts';
import type { SandboxRegistry } from '../registry.ts';
import { foldersOf } from '../sandbox-paths.ts';
import { snapshotWorkspace } from './snapshot.ts';
import { storeFile } from './store-file.ts';
import { type Written, writeFiles } from './write-files.ts';

/** What can be done with the files of a sandbox while its agent is at work in them. */
export interface SandboxFiles {
  store(runId: string, path: string): Promise<HostCallResult<'store_file'>>;
  storeAll(runId: string): Promise<HostCallResult<'store_files'>>;
  write(
    runId: string,
    files: HostCallPayload<'write_files'>['files'],
  ): Promise<HostCallResult<'write_files'>>;
  /**
   * Puts all that waits for the turn of this message in its place. Answers what cannot be: it waits no
   * longer. Safe to repeat.
   */
  writePendingFiles(held: SandboxLease, messageId: string): Promise<UnwritableFile[]>;
  /** The last word on a run's files: whatever else stores them comes before it, or not at all. */
  snapshot(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
}

export interface UnwritableFile {
  path: string;
  reason: string;
}

const filesAtOnce = 100;

export function createSandboxFiles(
  deps: SandboxDeps,
  held: Pick<SandboxRegistry, 'findByRun'>,
  turnstile: KeyedMutex,
): SandboxFiles {
  const rootOf = (ref: SandboxRef): string => foldersOf(deps.dataDir, ref).workspace;
  const liveRef = (runId: string): SandboxLease | null => {
    const sandbox = held.findByRun(runId);
    return sandbox?.isLive() ? sandbox.lease : null;
  };
  const collect = (ref: SnapshotRef) => snapshotWorkspace(deps, { ref, root: rootOf(ref) });

  const storeAll = coalesce((runId) =>
    deps.storing(runId, async (): Promise<HostCallResult<'store_files'>> => {
      const ref = liveRef(runId);
      if (ref === null) return { outcome: 'gone' };
      await collect(ref);
      return { outcome: 'stored' };
    }),
  );

  return {
    storeAll,
    writePendingFiles: (session, messageId) =>
      turnstile.runExclusive(`write/${session.runId}`, () => prepare(deps, session, messageId)),
    snapshot: (ref) => deps.storing(ref.runId, () => collect(ref)),
    async store(runId, path) {
      const ref = liveRef(runId);
      return ref === null ? { outcome: 'gone' } : storeFile(deps.blobs, rootOf(ref), path);
    },
    write: (runId, files) =>
      turnstile.runExclusive(`write/${runId}`, async () => {
        const ref = liveRef(runId);
        if (ref === null) return { outcome: 'gone' };
        const written = await writeFiles(rootOf(ref), files, contentFrom(deps));
        // One that ended meanwhile may have been collected without them.
        return liveRef(runId) === null ? { outcome: 'gone' } : written;
      }),
  };
}

const contentFrom =
  ({ blobs }: Pick<SupervisorDeps, 'blobs'>) =>
  ({ sha256 }: InputFile) =>
    blobs.read(sha256);

async function prepare(
  deps: SupervisorDeps,
  session: SandboxLease,
  messageId: string,
): Promise<UnwritableFile[]> {
  const { workspace } = foldersOf(deps.dataDir, session);
  const unwritable: UnwritableFile[] = [];
  for (;;) {
    const waiting = await deps.turns.pendingFiles(session, messageId);
    const some = waiting.slice(0, filesAtOnce);
    if (some.length === 0) return unwritable;
    const written = await writeFiles(workspace, some, contentFrom(deps));
    if (written.outcome === 'refused') unwritable.push(written);
    if ((await markWritten(deps, session, { files: some, written })) > 0) continue;
    // Whoever has lost the lease would find the same for ever.
    if (unwritable.length > 0) return unwritable;
    throw new Error('the files are not this sandbox’s to settle');
  }
}

/** How many wait no longer. */
async function markWritten(
  { turns }: Pick<SupervisorDeps, 'turns'>,
  session: SandboxLease,
  { files, written }: { files: InputFile[]; written: Written },
): Promise<number> {
  if (written.outcome === 'written') return turns.markFilesWritten(session, files);
  const conflicting = files.find(({ path }) => path === written.path);
  return conflicting ? turns.discardFile(session, conflicting) : 0;
}
