// A sandbox that this process looks after, from its start or its adoption to its end: its output is
// tailed, its lease renewed, its exit waited for, its limits watched. Activities attach to it and may
// leave. It is over by its own end, by losing its lease, or by being closed, and only the first of
// these touches anything outside: what is lost to another, or left at shutdown, goes on running.

import type { SandboxEnd } from '../../core/sandbox.ts';
import type { SandboxRef } from '../../workflows/activities.ts';
import { condemnationOf, type Offence, watchSilence } from './condemn.ts';
import { decideEnd } from './decide-end.ts';
import { boundsOf, type SupervisorDeps } from './deps.ts';
import type { SandboxParts } from './sandbox-parts.ts';
import { createStopLadder, type StopLadder } from './stop-ladder.ts';
import { insist, within } from './wait.ts';
import { watchOutput } from './watch-output.ts';
import { watchSize } from './workspace/watch-size.ts';

export interface LiveSandbox {
  ref: SandboxRef;
  /** Rejects with SandboxLetGo when this process has let go of it before its end. */
  ended: Promise<SandboxEnd>;
  /** It has not ended, and this process has not let go of it. */
  isLive(): boolean;
  isLetGo(): boolean;
  hintExit(): void;
  stop(graceMs: number): Promise<void>;
  /** Lets go of it; resolves once nothing more is written. */
  close(): Promise<void>;
}

/** Another host has the run, it was ended elsewhere, or this process is shutting down. */
export class SandboxLetGo extends Error {
  override name = 'SandboxLetGo';
}

export function liveSandbox(deps: SupervisorDeps, parts: SandboxParts): LiveSandbox {
  const { ref, exit, turns, served, logger } = parts;
  const over = new AbortController();
  const patience = {
    signal: over.signal,
    onFailure: (error: unknown, attempt: number) =>
      logger.warn({ err: error, attempt }, 'sandbox_step_failed'),
  };
  const letGo = (why: string): void => over.abort(new SandboxLetGo(why));
  const ladder = ladderOf(deps, parts);
  const { tail, tree } = watchOutput(deps, parts, {
    ...patience,
    onTrouble: condemn,
    onFenced: () => letGo('the lease is lost'),
  });
  let endedByForce = false;

  /** Recorded first, so that the exit which follows is not taken for the cause. */
  function condemn(offence: Offence): void {
    const { cause, detail } = condemnationOf(offence);
    logger.warn({ cause, detail }, 'sandbox_condemned');
    insist(() => deps.runs.recordCause({ runId: ref.runId, cause, detail }), patience)
      .then(() => insist(() => ladder.stop(0), patience))
      .catch(() => undefined); // let go of: no longer ours to end
  }

  /** A plain run has one turn: its result closes the input, and an agent that stays is ended. */
  async function endAfterResult(): Promise<void> {
    await Promise.race([turns.finished, untilOver]);
    served.input.close();
    if (await within(deps.times.afterResultGraceMs, Promise.race([exit.exited, untilOver]))) return;
    endedByForce = true;
    await insist(() => ladder.stop(0), patience);
  }

  async function liveToTheEnd(): Promise<SandboxEnd> {
    const how = await exit.exited;
    tail.finish();
    await tail.done;
    over.signal.throwIfAborted();
    await tree.finish();
    const end = decideEnd({ exit: how, turn: turns.last(), endedByForce });
    const { cause, detail, exitCode } = end;
    const record = () => deps.runs.recordCause({ runId: ref.runId, cause, detail });
    const stands = (await insist(record, patience)) ?? cause;
    logger.info({ cause: stands, exitCode, refused: served.refusals() }, 'sandbox_ended');
    return { cause: stands, detail: stands === cause ? detail : null, exitCode };
  }

  /** Nothing of this process stays attached, and the socket is closed. */
  async function detach(): Promise<void> {
    letGo('it is over');
    parts.lease.letGo();
    exit.stop();
    tree.stop();
    tail.stop();
    await tail.done.catch(() => undefined);
    await served.egress.close();
    await parts.spool.close();
  }

  const untilOver = new Promise<never>((_resolve, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true });
  });
  parts.lost.addEventListener('abort', () => letGo('the lease is lost'), { once: true });
  const brokenTail = tail.done.then(() => untilOver);
  let isLetGo = false;
  const ended = Promise.race([liveToTheEnd(), untilOver, brokenTail])
    .catch((error: unknown) => {
      isLetGo = true;
      logger.warn({ err: error }, 'sandbox_let_go');
      throw error;
    })
    .finally(detach);

  for (const unheard of [ended, untilOver, brokenTail, endAfterResult()]) {
    unheard.catch(() => undefined); // whoever follows hears of it; there may be nobody
  }
  watchLimits(deps, { parts, tail, signal: over.signal }, condemn);

  return {
    ref,
    ended,
    isLive: () => !over.signal.aborted,
    isLetGo: () => isLetGo,
    hintExit: exit.hint,
    stop: (graceMs) => ladder.stop(graceMs),
    async close() {
      letGo('this process is shutting down');
      await ended.catch(() => undefined);
    },
  };
}

function ladderOf({ sandboxes, newId }: SupervisorDeps, parts: SandboxParts): StopLadder {
  const { containerId, exit, turns, served, lease } = parts;
  return createStopLadder({
    input: served.input,
    turns,
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

function watchLimits(
  deps: SupervisorDeps,
  {
    parts,
    tail,
    signal,
  }: { parts: SandboxParts; tail: Parameters<typeof watchSilence>[0]['tail']; signal: AbortSignal },
  condemn: (offence: Offence) => void,
): void {
  const { turns, folders } = parts;
  const silence = { stallTimeoutMs: deps.times.stallTimeoutMs, signal };
  void watchSilence({ tail, turns }, silence, () => condemn('silence'));
  const size = { path: folders.workspace, maxBytes: boundsOf(deps).workspaceBytes, signal };
  void watchSize(size, () => condemn('workspace'));
}
