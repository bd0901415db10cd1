// What a host keeps alive apart from any activity: one object for each of its sandboxes. Whatever is
// asked of one run happens one after the other; only waiting for its end, and stopping it, go beside.

import type { SandboxEnd } from '../../core/sandbox.ts';
import type { SandboxRef } from '../../workflows/activities.ts';
import { adoptSandbox, findContainer } from './adopt-sandbox.ts';
import type { SupervisorDeps } from './deps.ts';
import { foldersOf } from './folders.ts';
import type { LiveSandbox } from './live-sandbox.ts';
import { removeSandbox } from './remove-sandbox.ts';
import { resumeSandboxes } from './resume-sandboxes.ts';
import { startErrorOf } from './start-error.ts';
import { startSandbox } from './start-sandbox.ts';
import { createTurnstile } from './turnstile.ts';
import { collectWorkspace } from './workspace/collect.ts';

export interface Supervisor {
  /** Throws SandboxStartError. A second call finds what the first has started. */
  start(ref: SandboxRef): Promise<'started' | 'over'>;
  /** Resolves once the output is read to its end and the cause recorded; aborting only detaches. */
  follow(ref: SandboxRef, signal: AbortSignal): Promise<SandboxEnd>;
  /** Resolves when the sandbox runs no more; takes the grace and two seconds at most. */
  stop(ref: SandboxRef, graceMs: number): Promise<void>;
  collect(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
  /** The container, its socket, its folders. Harmless when they are gone. */
  remove(ref: SandboxRef): Promise<void>;
  /** Takes up what an earlier life of this host has left, and removes what nobody wants. */
  resume(): Promise<void>;
  live(): SandboxRef[];
  /** Detaches from everything; containers go on running. */
  close(): Promise<void>;
}

export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const held = new Map<string, LiveSandbox>();
  const turnstile = createTurnstile();
  const exits = deps.sandboxes.watchExits(({ runId }) => held.get(runId)?.hintExit());

  /** The object of this very sandbox, unless it has been let go of. */
  function find({ runId, generation }: SandboxRef): LiveSandbox | null {
    const sandbox = held.get(runId);
    if (sandbox === undefined || sandbox.isLetGo()) return null;
    return sandbox.ref.generation === generation ? sandbox : null;
  }

  function hold(sandbox: LiveSandbox): LiveSandbox {
    held.set(sandbox.ref.runId, sandbox);
    return sandbox;
  }

  const start = (ref: SandboxRef): Promise<'started' | 'over'> =>
    turnstile.pass(ref.runId, async () => {
      if (find(ref) !== null) return 'started';
      const started = await startSandbox(deps, ref);
      if (started === 'over') return 'over';
      hold(started);
      return 'started';
    });

  /** An end instead of a sandbox where the run has ended already. */
  const attach = (ref: SandboxRef): Promise<LiveSandbox | SandboxEnd> =>
    turnstile.pass(ref.runId, async () => {
      const known = find(ref);
      if (known !== null) return known;
      const adoption = await adoptSandbox(deps, ref);
      return adoption.outcome === 'ended' ? adoption.end : hold(adoption.sandbox);
    });

  async function follow(ref: SandboxRef, signal: AbortSignal): Promise<SandboxEnd> {
    signal.throwIfAborted();
    const found = await attach(ref);
    return 'ended' in found ? orAbort(found.ended, signal) : found;
  }

  /** What is being started is waited for: it sees the recorded cause, or is there to be stopped. */
  async function stop(ref: SandboxRef, graceMs: number): Promise<void> {
    const sandbox = find(ref) ?? (await turnstile.pass(ref.runId, () => adoptToStop(ref)));
    await sandbox?.stop(graceMs);
  }

  async function adoptToStop(ref: SandboxRef): Promise<LiveSandbox | null> {
    const known = find(ref);
    if (known !== null) return known;
    const container = await findContainer(deps, ref);
    if (container?.state !== 'running' && container?.state !== 'paused') return null;
    const adoption = await adoptSandbox(deps, ref);
    return adoption.outcome === 'ended' ? null : hold(adoption.sandbox);
  }

  const remove = (ref: SandboxRef): Promise<void> =>
    turnstile.pass(ref.runId, async () => {
      const sandbox = held.get(ref.runId);
      const isAnother = sandbox !== undefined && sandbox.ref.generation !== ref.generation;
      if (!isAnother) {
        await sandbox?.close();
        held.delete(ref.runId);
      }
      await removeSandbox(deps, ref, { keepSocket: isAnother });
      if (!isAnother) await deps.frameStream.expire(ref.runId);
    });

  return {
    start: (ref) =>
      start(ref).catch((error: unknown) => {
        throw startErrorOf(error);
      }),
    follow,
    stop,
    collect: (ref) =>
      collectWorkspace(deps, {
        runId: ref.runId,
        root: foldersOf(deps.dataDir, ref).workspace,
      }),
    remove,
    resume: () => resumeSandboxes(deps, attach),
    live: () => [...held.values()].filter((one) => one.isLive()).map((one) => one.ref),
    async close() {
      exits.close();
      await turnstile.idle();
      await Promise.all([...held.values()].map((sandbox) => sandbox.close()));
    },
  };
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
