import type { HostCallPayload, HostCallResult } from '../../core/host-request.ts';
import type { HeldSession } from '../../systems/postgres/turn-store.ts';
import type { SandboxRef } from '../../workflows/activities.ts';
import type { SupervisorDeps } from './deps.ts';
import { foldersOf } from './folders.ts';
import type { HeldSandboxes } from './held-sandboxes.ts';
import { createPaced } from './paced.ts';
import type { Turnstile } from './turnstile.ts';
import { collectWorkspace } from './workspace/collect.ts';
import { storeFile } from './workspace/store-file.ts';
import { writeFiles } from './workspace/write-files.ts';

/** What can be done with the files of a sandbox while its agent is at work in them. */
export interface LiveFiles {
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
  prepare(held: HeldSession, messageId: string): Promise<Misplaced[]>;
  /** The last word on a run's files: whatever else stores them comes before it, or not at all. */
  collect(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
}

export interface Misplaced {
  path: string;
  reason: string;
}

/** What the storing of a run's files takes turns by, and their removal with it. */
export const filesOf = (runId: string): string => `files/${runId}`;

const filesAtOnce = 100;

export function createLiveFiles(
  deps: SupervisorDeps,
  held: Pick<HeldSandboxes, 'ofRun'>,
  turnstile: Turnstile,
): LiveFiles {
  const rootOf = (ref: SandboxRef): string => foldersOf(deps.dataDir, ref).workspace;
  const liveRef = (runId: string): SandboxRef | null => {
    const sandbox = held.ofRun(runId);
    return sandbox?.isLive() ? sandbox.ref : null;
  };
  const collect = (ref: SandboxRef) => collectWorkspace(deps, { ref, root: rootOf(ref) });

  const storeAll = createPaced((runId) =>
    turnstile.pass(filesOf(runId), async (): Promise<HostCallResult<'store_files'>> => {
      const ref = liveRef(runId);
      if (ref === null) return { outcome: 'gone' };
      await collect(ref);
      return { outcome: 'stored' };
    }),
  );

  const read = ({ sha256 }: { sha256: string }) => deps.blobs.read(sha256);

  return {
    storeAll,
    prepare: (session, messageId) =>
      turnstile.pass(`write/${session.runId}`, async () => {
        const misplaced: Misplaced[] = [];
        for (;;) {
          const waiting = await deps.turns.waitingFiles(session, messageId);
          const some = waiting.slice(0, filesAtOnce);
          if (some.length === 0) return misplaced;
          const written = await writeFiles(rootOf(session), some, read);
          if (written.outcome === 'written') await deps.turns.settleFiles(session, some);
          else {
            misplaced.push(written);
            const theOne = some.filter(({ path }) => path === written.path);
            for (const file of theOne) await deps.turns.dropFile(session, file);
          }
        }
      }),
    collect: (ref) => turnstile.pass(filesOf(ref.runId), () => collect(ref)),
    async store(runId, path) {
      const ref = liveRef(runId);
      return ref === null ? { outcome: 'gone' } : storeFile(deps.blobs, rootOf(ref), path);
    },
    write: (runId, files) =>
      turnstile.pass(`write/${runId}`, async () => {
        const ref = liveRef(runId);
        if (ref === null) return { outcome: 'gone' };
        const written = await writeFiles(rootOf(ref), files, read);
        // One that ended meanwhile may have been collected without them.
        return liveRef(runId) === null ? { outcome: 'gone' } : written;
      }),
  };
}
