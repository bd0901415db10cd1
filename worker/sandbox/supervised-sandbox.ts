// A sandbox that this process looks after, from its start or its adoption to its end: its output is
// tailed, its lease renewed, its exit waited for, its limits watched. Activities attach to it and may
// leave. It is over by its own end, by losing its lease, or by being closed, and only the first of
// these touches anything outside: what is lost to another, or left at shutdown, goes on running.

import type { RunEnd } from '../../core/runs/end-cause.ts';
import type { SandboxLease } from '../../systems/postgres/log/lease.ts';
import type { SandboxRef } from '../../workflows/shared/activities.ts';
import type { SandboxContext } from './context.ts';
import { boundsOf, type SandboxDeps, type SupervisorDeps } from './deps.ts';
import { pollAnswers } from './input/interaction-answers.ts';
import type { TurnTracker } from './input/turn-tracker.ts';
import { type OutputPipeline, startOutput } from './output/output.ts';
import { createOwnership, type Ownership } from './ownership.ts';
import { createSessionController, type SessionController } from './session/session-controller.ts';
import type { SessionContext } from './session/session-part.ts';
import { awaitExitAndDrain, closeAfterResult } from './stop/finish-run.ts';
import { createGracefulStop, type GracefulStop, type StopTarget } from './stop/graceful-stop.ts';
import { createWatchdog, type Violation, type Watchdog, watchForStall } from './stop/watchdog.ts';
import { watchDiskUsage } from './workspace/quota-watchdog.ts';

export interface SupervisedSandbox {
  ref: SandboxRef;
  /** The same, with the lease under which this process looks after it. */
  lease: SandboxLease;
  /** Rejects with SandboxReleased when this process has let go of it before its end. */
  ended: Promise<RunEnd>;
  /** It has not ended, and this process has not let go of it. */
  isLive(): boolean;
  isReleased(): boolean;
  hintExit(): void;
  stop(graceMs: number): Promise<void>;
  /** Null for a plain run. */
  session: SessionController | null;
  /** Hands the agent every answer that is there for it. */
  deliverAnswers(): Promise<void>;
  /** Lets go of it; resolves once nothing more is written. */
  close(): Promise<void>;
}

export function superviseSandbox(deps: SandboxDeps, context: SandboxContext): SupervisedSandbox {
  const ownership = createOwnership(context.logger);
  const gracefulStop = gracefulStopFor(deps, context);
  const stop = async (graceMs: number): Promise<void> => {
    await controller?.resume();
    await gracefulStop.stop(graceMs);
  };
  const { terminateFor, recorded } = createWatchdog(deps, context, {
    gracefulStop: { stop },
    ownership,
  });
  const output = startOutput(deps, context, { ownership, onFault: terminateFor });
  const { session } = context;
  const controller =
    session === null
      ? null
      : createSessionController(deps, context, {
          session,
          output,
          gracefulStop,
          ownership,
          recorded,
        });
  watchLimits(deps, context, { output, ownership, terminateFor });
  void pollAnswers(context, ownership.retry);
  context.lost.addEventListener('abort', () => ownership.release('the lease is lost'), {
    once: true,
  });
  const on = { output, ownership, terminateFor, recorded };
  const end = controller === null ? runToEnd(deps, context, on) : controller.awaitExitAndSave();
  const ended = endOf(end, context, { output, ownership });
  return {
    ref: context.ref,
    lease: { ...context.ref, token: context.lease.token },
    ended,
    isLive: () => !ownership.signal.aborted,
    isReleased: ownership.isReleased,
    hintExit: context.exit.hint,
    stop,
    session: controller,
    deliverAnswers: context.answers.deliver,
    async close() {
      ownership.release('this process is shutting down');
      await ended.catch(() => undefined);
    },
  };
}

/** Of a plain run, which is over with its only message. */
function runToEnd(
  deps: SupervisorDeps,
  context: SandboxContext,
  on: Watchdog & { output: OutputPipeline; ownership: Ownership },
): Promise<RunEnd> {
  const { output, ownership, terminateFor } = on;
  const parting = closeAfterResult(deps, context, { tail: output.tail, ownership, terminateFor });
  parting.catch(() => undefined); // let go of before it came to that
  return awaitExitAndDrain(deps, context, on);
}

function gracefulStopFor(
  { sandboxes, newId }: SupervisorDeps,
  context: SandboxContext,
): GracefulStop {
  const { containerId, exit, turns, served, lease, session } = context;
  return createGracefulStop({
    input: served.input,
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

/** An agent of a session is at work while it has a message, and ends with its input otherwise. */
const sessionWork = ({ turns }: SessionContext): StopTarget['work'] => ({
  isWorking: () => turns.present() !== null,
  get finished() {
    return turns.ended();
  },
  canExitOnItsOwn: () => turns.present() === null,
});

function watchLimits(
  deps: SupervisorDeps,
  { turns, folders, session }: SandboxContext,
  on: { output: OutputPipeline; ownership: Ownership; terminateFor: (offence: Violation) => void },
): void {
  const { signal } = on.ownership;
  const silence = { stallTimeoutMs: deps.times.stallTimeoutMs, signal };
  if (session === null) {
    void watchForStall({ tail: on.output.tail, turns }, silence, () => on.terminateFor('stalled'));
  }
  const paths = [folders.workspace, folders.config, folders.stderrFile];
  void watchDiskUsage({ paths, bounds: boundsOf(deps), signal }, on.terminateFor);
}

/** Whatever ended it, nothing of this process stays attached, and the run's socket is closed. */
function endOf(
  end: Promise<RunEnd>,
  context: SandboxContext,
  { output, ownership }: { output: OutputPipeline; ownership: Ownership },
): Promise<RunEnd> {
  const tailFailed = output.tail.done.then(() => ownership.released);
  const first = Promise.race([end, ownership.released, tailFailed]);
  const ended = finished(first, ownership, () => detach(context, output));
  ended.catch(() => undefined); // who follows it hears of it; there may be nobody
  return ended;
}

async function finished(
  end: Promise<RunEnd>,
  ownership: Ownership,
  detachAll: () => Promise<void>,
): Promise<RunEnd> {
  try {
    const how = await end;
    ownership.finish();
    return how;
  } finally {
    ownership.release('its output cannot be read'); // nothing where it has ended, or was let go of
    await detachAll();
  }
}

async function detach({ lease, exit, served, spool }: SandboxContext, output: OutputPipeline) {
  lease.release();
  exit.stop();
  output.tree.stop();
  output.tail.stop();
  await output.tail.done.catch(() => undefined);
  await served.egress.close();
  await spool.close();
}
