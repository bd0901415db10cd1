// What a host keeps alive apart from any activity: one object for each of its sandboxes. Whatever is
// asked of one run happens one after the other; only waiting for its end, and stopping it, go beside.

import type { RunEnd } from '../../core/runs/end-cause.ts';
import { createKeyedMutex, type KeyedMutex } from '../../lib/async/keyed-mutex.ts';
import type { SandboxRef, TurnOutcome } from '../../workflows/shared/activities.ts';
import type { SandboxDeps, SupervisorDeps } from './deps.ts';
import { SandboxReleased } from './ownership.ts';
import { createSandboxRegistry, type SandboxRegistry } from './registry.ts';
import { adoptExistingSandboxes } from './start/adopt-existing.ts';
import { adoptSandbox, findContainer } from './start/adopt-sandbox.ts';
import { startErrorOf } from './start/start-error.ts';
import { startSandbox } from './start/start-sandbox.ts';
import { findOrphans, removeFolders } from './stop/orphaned-folders.ts';
import { removeSandbox } from './stop/remove-sandbox.ts';
import type { SupervisedSandbox } from './supervised-sandbox.ts';
import { createSandboxFiles, type SandboxFiles } from './workspace/sandbox-files.ts';

export interface Supervisor {
  /** Throws SandboxStartError. A second call finds what the first has started. */
  start(ref: SandboxRef): Promise<'started' | 'cancelled'>;
  /** Resolves once the output is read to its end and the cause recorded; aborting only detaches. */
  follow(ref: SandboxRef, signal: AbortSignal): Promise<RunEnd>;
  /** Resolves when the sandbox runs no more: within the grace and two seconds on a sound engine. */
  stop(ref: SandboxRef, graceMs: number): Promise<void>;
  /** False: this process does not look after that run. */
  deliverAnswers(runId: string): Promise<boolean>;
  snapshot(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
  /** Gives the sandbox its session's next message, and waits for the end of the turn. */
  runTurn(ref: SandboxRef, signal: AbortSignal): Promise<TurnOutcome>;
  /** Ends the turn of this message, or of whichever goes on in it; nothing where that has ended. */
  interrupt(ref: SandboxRef, messageId: string | null): Promise<void>;
  files: Pick<SandboxFiles, 'store' | 'storeAll' | 'write'>;
  /** The container, its socket, its folders. Harmless when they are gone. */
  remove(ref: SandboxRef): Promise<void>;
  /** Takes up what an earlier life of this host has left, and removes what nobody wants. */
  resume(): Promise<void>;
  /** Removes what is left of sandboxes whose runs have ended and whose containers are gone. */
  sweep(): Promise<void>;
  live(): SandboxRef[];
  /** Detaches from everything; containers go on running. */
  close(): Promise<void>;
}

export function createSupervisor(given: SupervisorDeps): Supervisor {
  const held = createSandboxRegistry();
  const turnstile = createKeyedMutex();
  const deps: SandboxDeps = {
    ...given,
    storing: (runId, work) => turnstile.runExclusive(`files/${runId}`, work),
  };
  const files = createSandboxFiles(deps, held, turnstile);
  const closing = new AbortController();
  const state: SupervisorState = { deps, held, turnstile, files, closing: closing.signal };
  const exits = deps.sandboxes.watchExits(({ runId }) => held.findByRun(runId)?.hintExit());
  return {
    start: (ref) => start(state, ref),
    follow: (ref, signal) => follow(state, ref, signal),
    stop: (ref, graceMs) => stop(state, ref, graceMs),
    async deliverAnswers(runId) {
      const sandbox = held.findByRun(runId);
      if (!sandbox?.isLive()) return false;
      await sandbox.deliverAnswers();
      return true;
    },
    snapshot: files.snapshot,
    runTurn: (ref, signal) => runTurn(state, ref, signal),
    interrupt: (ref, messageId) => interrupt(state, ref, messageId),
    files,
    remove: (ref) => remove(state, ref),
    resume: () => adoptExistingSandboxes(deps, (ref) => attach(state, ref)),
    sweep: () => sweep(state),
    live: () =>
      held
        .all()
        .filter((sandbox) => sandbox.isLive())
        .map((sandbox) => sandbox.ref),
    async close() {
      closing.abort(new SandboxReleased('this process is shutting down'));
      exits.close();
      await turnstile.drain();
      await Promise.all(held.all().map((sandbox) => sandbox.close()));
    },
  };
}

interface SupervisorState {
  deps: SandboxDeps;
  held: SandboxRegistry;
  turnstile: KeyedMutex;
  files: SandboxFiles;
  /** Aborted when nothing more is taken up: who would let go of it again? */
  closing: AbortSignal;
}

function start(state: SupervisorState, ref: SandboxRef): Promise<'started' | 'cancelled'> {
  const { deps, held, turnstile, closing } = state;
  return turnstile.runExclusive(ref.runId, async () => {
    if (held.find(ref) !== null) return 'started';
    try {
      closing.throwIfAborted();
      await held.detach(ref.runId);
      const started = await startSandbox(deps, ref);
      if (started === 'cancelled') return 'cancelled';
      held.add(started);
      return 'started';
    } catch (error) {
      throw startErrorOf(error);
    }
  });
}

/** An end instead of a sandbox where the run has ended already. */
function attach({ deps, held, turnstile, closing }: SupervisorState, ref: SandboxRef) {
  return turnstile.runExclusive(ref.runId, async (): Promise<SupervisedSandbox | RunEnd> => {
    const known = held.find(ref);
    if (known !== null) return known;
    closing.throwIfAborted();
    await held.detach(ref.runId);
    const adoption = await adoptSandbox(deps, ref);
    return adoption.outcome === 'ended' ? adoption.end : held.add(adoption.sandbox);
  });
}

async function follow(
  state: SupervisorState,
  ref: SandboxRef,
  signal: AbortSignal,
): Promise<RunEnd> {
  signal.throwIfAborted();
  const found = await attach(state, ref);
  return 'ended' in found ? orAbort(found.ended, signal) : found;
}

async function runTurn(
  state: SupervisorState,
  ref: SandboxRef,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  signal.throwIfAborted();
  const found = await attach(state, ref);
  if (!('ended' in found) || found.session === null || !found.isLive())
    return { outcome: 'sandbox_ended' };
  return orAbort(found.session.runTurn(state.files.writePendingFiles), signal);
}

/** One that is being taken up is waited for: its turn goes on. */
async function interrupt(
  state: SupervisorState,
  ref: SandboxRef,
  messageId: string | null,
): Promise<void> {
  const sandbox = await findSoon(state, ref);
  await sandbox?.session?.interrupt(messageId);
}

/** What is being started or taken up at the moment is there after that. */
const findSoon = async (
  { held, turnstile }: SupervisorState,
  ref: SandboxRef,
): Promise<SupervisedSandbox | null> =>
  held.find(ref) ?? turnstile.runExclusive(ref.runId, async () => held.find(ref));

/** What is being started is waited for: it sees the recorded cause, or is there to be stopped. */
async function stop(state: SupervisorState, ref: SandboxRef, graceMs: number): Promise<void> {
  const known = await findSoon(state, ref);
  if (known !== null) return known.stop(graceMs);
  const container = await findContainer(state.deps, ref);
  if (container?.state !== 'running' && container?.state !== 'paused') return;
  const found = await attach(state, ref);
  if ('ended' in found) await found.stop(graceMs);
}

function remove({ deps, held, turnstile }: SupervisorState, ref: SandboxRef): Promise<void> {
  return turnstile.runExclusive(ref.runId, async () => {
    const sandbox = held.findByRun(ref.runId);
    const isAnother = sandbox !== null && sandbox.ref.generation !== ref.generation;
    if (!isAnother) await held.detach(ref.runId);
    // A list that is just being stored must not lose what is removed meanwhile.
    const gone = () => removeSandbox(deps, ref, { keepSocket: isAnother });
    await deps.storing(ref.runId, gone);
    if (!isAnother) await deps.frameStream.expire(ref.runId);
  });
}

async function sweep(state: SupervisorState): Promise<void> {
  const { folders, isOrphaned } = await findOrphans(state.deps);
  for (const { ref } of state.held.all()) if (isOrphaned(ref)) await remove(state, ref);
  await removeFolders(state.deps, folders);
}

async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let leave: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
