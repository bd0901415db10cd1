import { sessionChannel } from '../../../core/hosts/host-rpc.ts';
import { limits } from '../../../core/limits.ts';
import type { RunEnd } from '../../../core/runs/end-cause.ts';
import { errorOf } from '../../../core/runs/end-cause.ts';
import { retryUntilAborted } from '../../../lib/async/retry.ts';
import type { TurnOutcome } from '../../../workflows/shared/activities.ts';
import type { SandboxContext } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import type { OutputPipeline } from '../output/output.ts';
import type { Ownership } from '../ownership.ts';
import type { GracefulStop } from '../stop/graceful-stop.ts';
import { resolveEnd } from '../stop/resolve-end.ts';
import type { SandboxFiles } from '../workspace/sandbox-files.ts';
import { createIdlePauser, type IdlePauser } from './idle-pauser.ts';
import { createInterruptTurn, type InterruptTurn } from './interrupt-turn.ts';
import { runTurn } from './run-turn.ts';
import { createSaveQueue, saveSession } from './save-session.ts';
import type { SessionContext } from './session-part.ts';

/** What a sandbox of a session can do that a plain run's cannot. */
export interface SessionController {
  /** The session's next message, to the end of its turn; its files are in place before it begins. */
  runTurn(prepare: SandboxFiles['writePendingFiles']): Promise<TurnOutcome>;
  interrupt: InterruptTurn;
  /** Resolves when the sandbox is not paused. */
  resume(): Promise<void>;
  /** Its end, whatever brought it about; all that the next sandbox needs is stored by then. */
  awaitExitAndSave(): Promise<RunEnd>;
}

interface SessionDeps {
  session: SessionContext;
  output: OutputPipeline;
  gracefulStop: GracefulStop;
  ownership: Ownership;
  recorded(): Promise<unknown>;
}

export function createSessionController(
  deps: SandboxDeps,
  context: SandboxContext,
  { session, output, gracefulStop, ownership, recorded }: SessionDeps,
): SessionController {
  const { ref, folders, logger } = context;
  const held = { ...ref, token: context.lease.token };
  const pauser = createPauser(deps, context, { session, ownership });
  const saver = createSaveQueue(
    () => deps.storing(ref.runId, () => saveSession(deps, held, folders)),
    (err) => logger.warn({ err }, 'session_save_failed'),
  );
  const given = new Set<string>();
  const place = {
    context,
    session,
    tail: output.tail,
    gracefulStop,
    pauser,
    saver,
    ownership,
    given,
  };
  // A message has been stored: the sandbox wakes up while its workflow is being told.
  const leave = deps.bells.subscribeBestEffort(sessionChannel(ref.runId), pauser.prewarm);
  ownership.signal.addEventListener('abort', leave, { once: true });
  if (session.turns.present() === null) pauser.markIdle();
  // Found in the middle of a turn: whoever waits for its end may ask again too late to see it.
  else void session.turns.ended().then(saver.saveSoon);

  return {
    runTurn: (prepare) => runTurn(deps, { ...place, writePendingFiles: prepare }),
    resume: pauser.resume,
    interrupt: createInterruptTurn({ context, chat: session.turns, ownership, newId: deps.newId }),
    async awaitExitAndSave() {
      const exit = await context.exit.exited;
      leave();
      output.tail.finish();
      await output.tail.done;
      ownership.signal.throwIfAborted();
      await output.tree.finish();
      // Before the sandbox counts as gone: one that was condemned is not followed by another.
      await recorded();
      await retryUntilAborted(saver.save, ownership.retry);
      const { runId, generation } = ref;
      const end = resolveEnd({ exit, turn: context.turns.last() });
      const putAway = () => deps.turns.releaseSandbox(runId, generation, errorOf(end));
      if (await retryUntilAborted(putAway, ownership.retry))
        logger.info({ generation }, 'session_asleep');
      await deps.frameStream.notify(runId);
      logger.info(
        { generation, exit: exit.kind, refused: context.served.refusals() },
        'sandbox_ended',
      );
      return end;
    },
  };
}

function createPauser(
  deps: SandboxDeps,
  { containerId, ref, lease, turns, logger }: SandboxContext,
  { session, ownership }: Pick<SessionDeps, 'session' | 'ownership'>,
): IdlePauser {
  // What it has left in the background begins a turn of its own when it ends.
  const mayPause = (): boolean => {
    const { isInTurn, backgroundTasks } = turns.agentState();
    return session.turns.present() === null && !isInTurn && backgroundTasks === 0;
  };
  const hasWork = () => deps.turns.hasWork(ref.runId);
  const afterMs = deps.pauseAfterMs ?? limits.sessionPauseAfterMs;
  return createIdlePauser(
    { sandboxes: deps.sandboxes, logger },
    { containerId, afterMs, mayPause, isHeld: lease.confirm, hasWork },
    ownership.signal,
  );
}
