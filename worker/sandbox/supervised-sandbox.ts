// One sandbox that this process supervises, from its start or adoption to its end. Its output is
// tailed, its lease renewed, its exit awaited and its limits enforced. Activities attach and may
// detach. Supervision is over when the sandbox ends, when the lease is lost, or when it is closed.
// Only the end changes anything outside. A sandbox that is lost to another host, or left at
// shutdown, keeps running.

import { isBusy } from '../../core/agent/agent-state.ts';
import type { RunEnd } from '../../core/runs/end-cause.ts';
import { once } from '../../lib/once.ts';
import type { SandboxLease } from '../../systems/postgres/log/lease.ts';
import type { SandboxRef } from '../../workflows/shared/activities.ts';
import type { PreparedSandbox, SandboxContext, SessionContext } from './context.ts';
import { boundsOf, type SandboxDeps } from './deps.ts';
import { pollAnswers } from './input/interaction-answers.ts';
import type { TurnTracker } from './input/turn-tracker.ts';
import { type OutputPipeline, startOutput } from './output/output.ts';
import { createOwnership, type Ownership } from './ownership.ts';
import { createPauseState, type PauseState } from './pause-state.ts';
import type { WritePendingFiles } from './session/run-turn.ts';
import { createSessionController, type SessionController } from './session/session-controller.ts';
import { type ExitWatch, missingExit, watchExit } from './stop/exit-watch.ts';
import { closeAfterResult, finishRun } from './stop/finish-run.ts';
import { createGracefulStop, type GracefulStop, type StopTarget } from './stop/graceful-stop.ts';
import { createWatchdog, type Watchdog, watchForStall } from './stop/watchdog.ts';
import type { DiskUsage } from './workspace/disk-usage.ts';
import { createHashCache, type HashCache } from './workspace/hash-cache.ts';
import { watchDiskUsage } from './workspace/quota-watchdog.ts';

export interface SupervisedSandbox {
  ref: SandboxRef;
  /** The same, with the token of the lease that this process has. */
  lease: SandboxLease;
  /** Hashes of the files in its working directory, while its agent may change them. */
  hashes: HashCache;
  /** Rejects with SandboxReleased if this process releases the sandbox before its end. */
  ended: Promise<RunEnd>;
  /** It has neither ended nor been released. */
  isLive(): boolean;
  isReleased(): boolean;
  hintExit(): void;
  /** The host has written files to its working directory. */
  noteFilesWritten(): void;
  stop(graceMs: number): Promise<void>;
  /** Null for a plain run. */
  session: SessionController | null;
  /** Sends the agent every answer that it has not been sent. */
  deliverAnswers(): Promise<void>;
  disk: SandboxDisk;
  /** Releases it. Resolves once nothing more is written. */
  close(): Promise<void>;
}

/** What it writes to the disk that it shares with other sandboxes. */
interface SandboxDisk {
  paths: string[];
  /** The limits of its working directory. */
  max: DiskUsage;
  /** When it was last counted; nothing before. */
  last(): DiskUsage;
  /** Ends it because the disk of the host has almost none of this left. */
  end(resource: keyof DiskUsage): void;
  isEnding(): boolean;
}

export function superviseSandbox(
  deps: SandboxDeps,
  prepared: PreparedSandbox,
  writePendingFiles: WritePendingFiles,
): SupervisedSandbox {
  const pause = createPauseState();
  const context = { ...prepared, pause, exit: watchContainer(deps, prepared, pause) };
  const { ref, logger, session, lease, exit } = context;
  const ownership = createOwnership(logger);
  const gracefulStop = gracefulStopFor(deps, context);
  const stop = async (graceMs: number): Promise<void> => {
    controller?.refuseHints();
    await controller?.resume();
    await gracefulStop.stop(graceMs);
  };
  const watchdog = createWatchdog(deps, context, { gracefulStop: { stop }, ownership });
  const { terminateFor, recorded } = watchdog;
  const output = startOutput(deps, context, { ownership, onFault: terminateFor });
  const hashes = createHashCache();
  const supervision = { output, ownership, gracefulStop, terminateFor, recorded, hashes };
  const sessionDeps = session && { ...supervision, session, writePendingFiles };
  const controller = sessionDeps && createSessionController(deps, context, sessionDeps);
  const disk = watchLimits(deps, context, supervision);
  void context.socket.meter.exceeded.then(terminateFor);
  const endForStorage = once(() => terminateFor('storage_quota_exceeded'));
  lease.onOverQuota(() => {
    // An idle session stores nothing, and its next message is rejected.
    const isIdle = session?.turns.current() === null && !isBusy(context.turns.agentState());
    if (!isIdle) endForStorage();
  });
  void pollAnswers(context, ownership.retry);
  const onLost = (): void => ownership.release('the lease is lost');
  context.lost.addEventListener('abort', onLost, { once: true });
  if (context.lost.aborted) onLost(); // during the start
  const end =
    controller === null ? runToEnd(deps, context, supervision) : controller.awaitExitAndSave();
  const ended = endOf(end, context, { output, ownership });
  context.socket.onExitHint(exit.hint);
  return {
    ref,
    lease: { ...ref, token: lease.token },
    hashes,
    ended,
    isLive: () => !ownership.signal.aborted,
    isReleased: ownership.isReleased,
    hintExit: exit.hint,
    noteFilesWritten: pause.noteChange,
    stop,
    session: controller,
    deliverAnswers: context.answers.deliver,
    disk,
    async close() {
      ownership.release('this process is shutting down');
      await ended.catch(() => undefined);
    },
  };
}

function watchContainer(
  { sandboxes }: SandboxDeps,
  { containerId, logger }: PreparedSandbox,
  pause: PauseState,
): ExitWatch {
  if (containerId === null) return missingExit;
  return watchExit({ sandboxes, logger }, { containerId, pause });
}

interface Supervision extends Watchdog {
  output: OutputPipeline;
  ownership: Ownership;
}

/** A plain run ends with its only message. */
function runToEnd(
  deps: SandboxDeps,
  context: SandboxContext,
  supervision: Supervision,
): Promise<RunEnd> {
  const { output, ownership, terminateFor } = supervision;
  const closing = closeAfterResult(deps, context, { tail: output.tail, ownership, terminateFor });
  closing.catch(() => undefined); // released before that
  return finishRun(deps, context, supervision);
}

function gracefulStopFor(
  { sandboxes, newId }: SandboxDeps,
  { containerId, exit, turns, socket, lease, session }: SandboxContext,
): GracefulStop {
  return createGracefulStop({
    input: socket.input,
    work: session === null ? runWork(turns) : sessionWork(session),
    exited: exit.exited,
    hasExited: () => exit.exit() !== undefined,
    maySignal: lease.confirm,
    async signal(name) {
      if (containerId !== null) await sandboxes.signal(containerId, name);
      exit.hint();
    },
    newId,
  });
}

const runWork = (turns: TurnTracker): StopTarget['work'] => ({
  isWorking: turns.isWorking,
  finished: turns.finished,
  canExitOnItsOwn: () => turns.last() !== null,
});

/** A session's agent works while it has a message. Otherwise it exits when its input is closed. */
const sessionWork = ({ turns }: SessionContext): StopTarget['work'] => ({
  isWorking: () => turns.current() !== null,
  get finished() {
    return turns.ended();
  },
  canExitOnItsOwn: () => turns.current() === null,
});

function watchLimits(
  deps: SandboxDeps,
  { turns, folders, session, exit, pause }: SandboxContext,
  { output, ownership, terminateFor }: Supervision,
): SandboxDisk {
  const { signal } = ownership;
  const { stallTimeoutMs } = deps.times;
  if (session === null) {
    const stall = { stallTimeoutMs, signal };
    void watchForStall({ tail: output.tail, turns, exit }, stall, () => terminateFor('stalled'));
  }
  const paths = [folders.workspace, folders.config, folders.stderrFile];
  const bounds = boundsOf(deps);
  let last: DiskUsage = { bytes: 0, inodes: 0 };
  const onUsage = (usage: DiskUsage): void => void (last = usage);
  const quotaUsage = () => deps.projectQuotas.usage(folders);
  const watched = { paths, bounds, quotaUsage, pause, signal };
  void watchDiskUsage(watched, { onUsage, onViolation: terminateFor });
  let isEnding = false;
  return {
    paths,
    max: { bytes: bounds.workspaceBytes, inodes: bounds.workspaceInodes },
    last: () => last,
    end(resource) {
      isEnding = true;
      terminateFor(resource === 'bytes' ? 'host_disk_full' : 'host_inodes_used_up');
    },
    isEnding: () => isEnding,
  };
}

/** After every kind of end, this process is detached and the run's socket is closed. */
function endOf(
  end: Promise<RunEnd>,
  context: SandboxContext,
  { output, ownership }: { output: OutputPipeline; ownership: Ownership },
): Promise<RunEnd> {
  const tailFailed = output.tail.done.then(() => ownership.released);
  const first = Promise.race([end, ownership.released, tailFailed]);
  const ended = finishAndDetach(first, ownership, () => detach(context, output));
  ended.catch(() => undefined); // activities that follow it handle it; there may be none
  return ended;
}

async function finishAndDetach(
  end: Promise<RunEnd>,
  ownership: Ownership,
  detachAll: () => Promise<void>,
): Promise<RunEnd> {
  try {
    const found = await end;
    ownership.finish();
    return found;
  } finally {
    ownership.release('its output cannot be read'); // no effect after its end or a release
    await detachAll();
  }
}

async function detach({ lease, exit, socket, spool }: SandboxContext, output: OutputPipeline) {
  lease.release();
  exit.stop();
  output.tree.stop();
  output.tail.stop();
  // The tail may wait for the ledger, which the socket does for a limited time.
  await Promise.all([output.tail.done.catch(() => undefined), socket.close()]);
  await spool.close();
}
