// Supervises a host's sandboxes independently of activities. Operations on one run are serialized.
// Waiting for its end and stopping it are not.

import type { SandboxSupervisor, SandboxTurn } from '../../activities/sandbox.ts';
import { failpoint } from '../../core/failpoint.ts';
import type { RunEnd } from '../../core/runs/end-cause.ts';
import { createKeyedMutex, type KeyedMutex } from '../../lib/async/keyed-mutex.ts';
import { untilAborted } from '../../lib/async/until-aborted.ts';
import type { SandboxRef, TurnInput } from '../../workflows/shared/activities.ts';
import type { PreparedSandbox } from './context.ts';
import type { SandboxDeps, SupervisorDeps } from './deps.ts';
import { createLeaseRenewer } from './output/lease-renewer.ts';
import { SandboxReleased } from './ownership.ts';
import { createSandboxRegistry, type SandboxRegistry } from './registry.ts';
import { sandboxKey } from './sandbox-key.ts';
import { adoptExistingSandboxes } from './start/adopt-existing.ts';
import { adoptSandbox, findContainer } from './start/adopt-sandbox.ts';
import { createStartLimiter } from './start/start-limiter.ts';
import { createStarter } from './start/starter.ts';
import { watchFreeSpace } from './stop/free-space-watch.ts';
import { findOrphans, removeFolders } from './stop/orphaned-folders.ts';
import { removeSandbox } from './stop/remove-sandbox.ts';
import { type SupervisedSandbox, superviseSandbox } from './supervised-sandbox.ts';
import { createSandboxFiles, type SandboxFiles } from './workspace/sandbox-files.ts';
import { createUnstoredFiles, type UnstoredFiles } from './workspace/unstored-files.ts';

export interface Supervisor extends SandboxSupervisor {
  /** False if this process does not supervise the run. */
  deliverAnswers(runId: string): Promise<boolean>;
  files: Pick<SandboxFiles, 'store' | 'storeAll' | 'write'>;
  /** Adopts the sandboxes that a previous process of this host left, and removes orphaned ones. */
  adoptExisting(): Promise<void>;
  /**
   * Removes the folders of sandboxes whose runs have ended and whose containers are gone. If the
   * files of a run are not stored, its folders remain and storing is retried in the background.
   */
  removeOrphanedFolders(): Promise<void>;
  live(): SandboxRef[];
  /** The starts that wait for other starts. */
  countWaitingStarts(): number;
  /** Detaches from all sandboxes. Containers keep running. */
  close(): Promise<void>;
}

export function createSupervisor(supervisorDeps: SupervisorDeps): Supervisor {
  const sandboxes = createSandboxRegistry();
  const mutex = createKeyedMutex();
  const closing = new AbortController();
  const deps: SandboxDeps = {
    ...supervisorDeps,
    mayActOnHints: () => !closing.signal.aborted && supervisorDeps.mayActOnHints(),
    withFilesLock: (runId, work) => mutex.runExclusive(`files/${runId}`, work),
    startLimiter: createStartLimiter({ ...supervisorDeps, closing: closing.signal }),
    leaseRenewer: createLeaseRenewer(supervisorDeps),
  };
  const files = createSandboxFiles(deps, sandboxes, mutex);
  const unstoredFiles = createUnstoredFiles(deps, files.snapshot);
  const state = { deps, sandboxes, mutex, files, unstoredFiles, closing: closing.signal };
  const starter = createStarter({ ...state, supervise: (prepared) => supervise(state, prepared) });
  const live = () => sandboxes.all().filter((one) => one.isLive() && !one.disk.isEnding());
  const disk = watchFreeSpace(deps, live, closing.signal);
  const exits = deps.sandboxes.watchExits({
    onExit: ({ runId }) => sandboxes.findByRun(runId)?.hintExit(),
    onReconnect() {
      for (const sandbox of sandboxes.all()) sandbox.hintExit();
    },
  });
  return {
    start: starter.start,
    follow: (ref, signal) => follow(state, ref, signal),
    stop: async (ref, graceMs) => (await findToStop(state, ref))?.stop(graceMs),
    stopIfIdle: (ref, graceMs) => stopIfIdle(state, ref, graceMs),
    async deliverAnswers(runId) {
      const sandbox = sandboxes.findByRun(runId);
      if (!sandbox?.isLive()) return false;
      await sandbox.deliverAnswers();
      return true;
    },
    snapshot: files.snapshot,
    runTurn: (turn, signal) => runTurn(state, turn, signal),
    interrupt: (ref, messageId) => interrupt(state, ref, messageId),
    files,
    remove: (ref, options) => remove(state, ref, options),
    adoptExisting: () => adoptExistingSandboxes(deps, (ref) => findOrAdopt(state, ref)),
    removeOrphanedFolders: () => removeOrphanedFolders(state),
    live: sandboxes.live,
    countWaitingStarts: deps.startLimiter.countWaiting,
    async close() {
      closing.abort(new SandboxReleased('this process is shutting down'));
      starter.close();
      exits.close();
      await unstoredFiles.close();
      await Promise.all([disk, mutex.drain()]);
      await Promise.all(sandboxes.all().map((sandbox) => sandbox.close()));
    },
  };
}

interface SupervisorState {
  deps: SandboxDeps;
  sandboxes: SandboxRegistry;
  mutex: KeyedMutex;
  files: SandboxFiles;
  unstoredFiles: UnstoredFiles;
  /** Aborted at shutdown. From then on nothing is adopted, because nothing would release it. */
  closing: AbortSignal;
}

/** Returns the run's end instead of a sandbox if the run has ended. */
function findOrAdopt(state: SupervisorState, ref: SandboxRef) {
  const { deps, sandboxes, mutex, closing } = state;
  return mutex.runExclusive(ref.runId, async (): Promise<SupervisedSandbox | RunEnd> => {
    const known = sandboxes.find(ref);
    if (known !== null) return known;
    closing.throwIfAborted();
    // A hint may have started a later one before the workflow has seen the end of this one.
    const later = sandboxes.findByRun(ref.runId);
    if (later === null || later.ref.generation <= ref.generation) await sandboxes.detach(ref.runId);
    const adoption = await adoptSandbox(deps, ref);
    if (adoption.outcome === 'ended') return adoption.end;
    return supervise(state, adoption.sandbox);
  });
}

const supervise = (
  { deps, sandboxes, files }: SupervisorState,
  prepared: PreparedSandbox,
): SupervisedSandbox => sandboxes.add(superviseSandbox(deps, prepared, files.writePendingFiles));

async function follow(
  state: SupervisorState,
  ref: SandboxRef,
  signal: AbortSignal,
): Promise<RunEnd> {
  signal.throwIfAborted();
  const found = await findOrAdopt(state, ref);
  return 'ended' in found ? untilAborted(found.ended, signal) : found;
}

async function runTurn(
  state: SupervisorState,
  { messageIds = [], ...ref }: TurnInput,
  signal: AbortSignal,
): Promise<SandboxTurn> {
  signal.throwIfAborted();
  const found = await findOrAdopt(state, ref);
  if (!('ended' in found) || found.session === null || !found.isLive())
    return { outcome: 'sandbox_ended' };
  return untilAborted(found.session.runTurn(messageIds), signal);
}

/** Waits for a sandbox that is being adopted, because its turn continues. */
async function interrupt(
  state: SupervisorState,
  ref: SandboxRef,
  messageId: string | null,
): Promise<void> {
  const sandbox = await findOrWait(state, ref);
  await sandbox?.session?.interrupt(messageId);
}

/** Waits for a start or an adoption that is in progress. */
async function findOrWait(
  { sandboxes, mutex }: SupervisorState,
  ref: SandboxRef,
): Promise<SupervisedSandbox | null> {
  return sandboxes.find(ref) ?? mutex.runExclusive(ref.runId, async () => sandboxes.find(ref));
}

/** Refuses hints before it checks for work, so that no turn begins after the check. */
async function stopIfIdle(
  state: SupervisorState,
  ref: SandboxRef,
  graceMs: number,
): Promise<boolean> {
  const found = await findToStop(state, ref);
  const session = found?.isLive() ? found.session : null;
  if (session !== null && !(await session.refuseHintsIfIdle())) return false;
  failpoint('sleep.asked');
  await found?.stop(graceMs);
  return true;
}

/**
 * Returns the sandbox to stop; null if none runs. Waits for a start in progress: it either sees the
 * recorded cause, or has a sandbox to stop. A start that waits for other starts sees the cause at
 * once.
 */
async function findToStop(
  state: SupervisorState,
  ref: SandboxRef,
): Promise<SupervisedSandbox | null> {
  const { startLimiter } = state.deps;
  const known = await startLimiter.bypass(sandboxKey(ref), () => findOrWait(state, ref));
  if (known !== null) return known;
  const container = await findContainer(state.deps, ref);
  if (container?.state !== 'running' && container?.state !== 'paused') return null;
  const found = await findOrAdopt(state, ref);
  return 'ended' in found ? found : null;
}

function remove(
  { deps, sandboxes, mutex }: SupervisorState,
  ref: SandboxRef,
  { keepFolders }: { keepFolders: boolean },
): Promise<void> {
  return mutex.runExclusive(ref.runId, async () => {
    const sandbox = sandboxes.findByRun(ref.runId);
    const isOtherGeneration = sandbox !== null && sandbox.ref.generation !== ref.generation;
    if (!isOtherGeneration) await sandboxes.detach(ref.runId);
    // A snapshot in progress must not lose the files that it lists.
    const keep = { keepSocket: isOtherGeneration, keepFolders };
    const removeFiles = () => removeSandbox(deps, ref, keep);
    await deps.withFilesLock(ref.runId, removeFiles);
    if (!isOtherGeneration) await deps.frameStream.expire(ref.runId);
  });
}

async function removeOrphanedFolders(state: SupervisorState): Promise<void> {
  const { folders, unstored, isOrphaned } = await findOrphans(state.deps);
  for (const { ref } of state.sandboxes.all())
    if (isOrphaned(ref)) await remove(state, ref, { keepFolders: true });
  await removeFolders(state.deps, folders);
  if (!state.closing.aborted) state.unstoredFiles.storeNext(unstored);
}
