import { isBusy } from '../../../core/agent/agent-state.ts';
import { sessionChannel } from '../../../core/hosts/host-rpc.ts';
import { limits } from '../../../core/limits.ts';
import type { RunEnd } from '../../../core/runs/end-cause.ts';
import { errorOf } from '../../../core/runs/end-cause.ts';
import { retryUntilAborted } from '../../../lib/async/retry.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxContext, SessionContext } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import type { OutputPipeline } from '../output/output.ts';
import type { Ownership } from '../ownership.ts';
import { awaitExitAndDrain, resolveEnd } from '../stop/finish-run.ts';
import type { GracefulStop } from '../stop/graceful-stop.ts';
import type { HashCache } from '../workspace/hash-cache.ts';
import { createIdlePauser, type IdlePauser } from './idle-pauser.ts';
import { createInterruptTurn, type InterruptTurn } from './interrupt-turn.ts';
import { createRunTurn, type WritePendingFiles } from './run-turn.ts';
import { createSaveQueue, saveSession } from './save-session.ts';
import { createTurnRunner, type TurnRunner } from './turn-runner.ts';

/** Operations that only a session's sandbox has. */
export interface SessionController extends Omit<TurnRunner, 'hint' | 'run'> {
  /** Runs the turn of the next message. */
  runTurn: TurnRunner['run'];
  interrupt: InterruptTurn;
  /** Resolves when the sandbox is not paused. */
  resume(): Promise<void>;
  /** Stores what the next sandbox needs, as it is now. Rejects at the signal. */
  save(signal: AbortSignal): Promise<void>;
  /** Resolves with its end, once everything that the next sandbox needs is stored. */
  awaitExitAndSave(): Promise<RunEnd>;
}

interface SessionDeps {
  session: SessionContext;
  output: OutputPipeline;
  gracefulStop: GracefulStop;
  ownership: Ownership;
  hashes: HashCache;
  writePendingFiles: WritePendingFiles;
  recorded(): Promise<unknown>;
}

export function createSessionController(
  deps: SandboxDeps,
  context: SandboxContext,
  { session, output, gracefulStop, ownership, hashes, writePendingFiles, recorded }: SessionDeps,
): SessionController {
  const { ref, folders, logger } = context;
  const lease = { ...ref, token: context.lease.token };
  const pauser = createPauser(deps, context, { session, ownership });
  let hasExited = false;
  /** The last save reads every file. */
  const saveOptions = (signal?: AbortSignal) => ({
    ...{ folders, signal },
    hashes: hasExited ? undefined : hashes,
  });
  const saver = createSaveQueue(
    (signal) => deps.withFilesLock(ref.runId, () => saveSession(deps, lease, saveOptions(signal))),
    (err) => logger.warn({ err }, 'session_save_failed'),
  );
  const { tail } = output;
  const parts = { context, session, tail, gracefulStop, pauser, saver, ownership };
  const turns = createTurns(deps, { ...parts, writePendingFiles });
  const stopHints = followHints(deps, ref, turns);
  ownership.signal.addEventListener('abort', stopHints, { once: true });
  if (session.turns.current() === null) pauser.markIdle();
  if (session.hasUnsavedTurn) saver.scheduleSave();
  // Adopted in the middle of a turn. The activity's retry may come too late to see the turn's end.
  if (session.turns.current() !== null) void session.turns.ended().then(saver.scheduleSave);

  return {
    runTurn: turns.run,
    refuseHints: turns.refuseHints,
    refuseHintsIfIdle: turns.refuseHintsIfIdle,
    resume: pauser.resume,
    save: saver.save,
    interrupt: createInterruptTurn({ context, turns: session.turns, ownership, newId: deps.newId }),
    async awaitExitAndSave() {
      void context.exit.exited.then(stopHints);
      // A terminated sandbox is not followed by another: its cause is recorded before the release.
      const exit = await awaitExitAndDrain(context, { output, ownership, recorded });
      hasExited = true;
      await retryUntilAborted(() => saver.save(), ownership.retry);
      const { runId, generation } = ref;
      const end = resolveEnd({ exit, turn: context.turns.last() });
      const releaseSandbox = () => deps.turns.releaseSandbox(runId, generation, errorOf(end));
      if (await retryUntilAborted(releaseSandbox, ownership.retry))
        logger.info({ generation }, 'session_asleep');
      await deps.frameStream.notify(runId);
      logger.info(
        { generation, exit: exit.kind, denied: context.socket.denials() },
        'sandbox_ended',
      );
      return end;
    },
  };
}

function createTurns(deps: SandboxDeps, parts: Parameters<typeof createRunTurn>[1]): TurnRunner {
  const { context, session } = parts;
  return createTurnRunner({
    runTurn: createRunTurn(deps, parts),
    isClaimed: session.isClaimed,
    hasEnded: session.turns.hasEnded,
    hasWork: () => deps.turns.hasWork(context.ref.runId),
    mayActOnHints: deps.mayActOnHints,
    onFailure: (err) => context.logger.debug({ err }, 'hint_not_followed'),
  });
}

/** Delivers a message while its workflow is still being signalled. Returns how to stop this. */
function followHints(
  { notifications }: SandboxDeps,
  { runId }: SandboxRef,
  { hint, refuseHints }: Pick<TurnRunner, 'hint' | 'refuseHints'>,
): () => void {
  const unsubscribe = notifications.subscribeBestEffort(sessionChannel(runId), hint);
  return () => {
    refuseHints();
    unsubscribe();
  };
}

function createPauser(
  deps: SandboxDeps,
  { containerId, lease, pause, turns, logger }: SandboxContext,
  { session, ownership }: Pick<SessionDeps, 'session' | 'ownership'>,
): IdlePauser {
  const afterMs = deps.pauseAfterMs ?? limits.session.pauseAfterMs;
  // A background task starts another turn shortly after its end, and a paused agent could not. A
  // fenced host pauses its sandboxes itself and unpauses them later, so none may count as paused.
  const mayPause = (since: number): boolean => {
    if (deps.isFenced() || session.turns.current() !== null || isBusy(turns.agentState()))
      return false;
    return (turns.idleSince() ?? 0) <= since;
  };
  return createIdlePauser(
    { sandboxes: deps.sandboxes, logger },
    { containerId, pause, afterMs, mayPause, isHeld: lease.confirm },
    ownership.signal,
  );
}
