import { ApplicationFailure, Context } from '@temporalio/activity';
import type { RunEnd } from '../core/runs/end-cause.ts';
import {
  failureTypes,
  type HostActivities,
  type SandboxRef,
  type StartOutcome,
  type TurnInput,
  type TurnOutcome,
} from '../workflows/shared/activities.ts';
import type { SlotAssigner } from './assign-slots.ts';

/** The result of a turn. `hasWaiting`: whether any run may wait for the session's slot. */
export type SandboxTurn =
  | Exclude<TurnOutcome, { outcome: 'done' }>
  | { outcome: 'done'; more: boolean; hasWaiting: boolean };

/** Owns this host's sandboxes independently of any activity. */
export interface SandboxSupervisor {
  /** Throws SandboxStartError. A second call finds the sandbox that the first has started. */
  start(ref: SandboxRef): Promise<StartOutcome>;
  /** Resolves once the output is read to its end and the cause recorded. Aborting only detaches. */
  follow(ref: SandboxRef, signal: AbortSignal): Promise<RunEnd>;
  /**
   * Resolves when the container has exited: within the grace and two seconds if the engine
   * responds.
   */
  stop(ref: SandboxRef, graceMs: number): Promise<void>;
  /** Like `stop`, but returns false if the session has work or that is unknown. */
  stopIfIdle(ref: SandboxRef, graceMs: number): Promise<boolean>;
  /** Sends the sandbox its session's next message, and waits for the end of the turn. */
  runTurn(turn: TurnInput, signal: AbortSignal): Promise<SandboxTurn>;
  /** Interrupts the turn of this message, or the current turn. No effect after its end. */
  interrupt(ref: SandboxRef, messageId: string | null): Promise<void>;
  snapshot(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
  /** Removes the container, its socket and, unless they are needed, its folders. Safe to repeat. */
  remove(ref: SandboxRef, options: { keepFolders: boolean }): Promise<void>;
}

export interface HostDeps {
  supervisor: SandboxSupervisor;
}

export function createSandboxActivities(
  deps: HostDeps,
  slots: Pick<SlotAssigner, 'evictAfter'>,
): HostActivities {
  const { supervisor } = deps;
  return {
    /** A second call adopts the container that the first has created, in any state. */
    startSandbox: (ref) => withHeartbeat(() => startSandbox(deps, ref)),

    /** Only attaches: a second call waits beside the first, and detaching ends nothing. */
    followRun: (ref) => withHeartbeat((signal) => supervisor.follow(ref, signal)),

    /** A second call continues the turn that the first has started, or takes the next message. */
    runTurn: (turn) => withHeartbeat((signal) => runTurn({ supervisor, slots }, turn, signal)),

    /** A second call finds the turn ended. Without a message id it may interrupt the next turn. */
    interruptTurn: ({ messageId, ...ref }) =>
      withHeartbeat(() => supervisor.interrupt(ref, messageId ?? null)),

    /** A second call waits for the stop that the first has begun, or finds the sandbox ended. */
    stopSandbox: ({ graceMs, ifIdle = false, ...ref }) =>
      withHeartbeat(async () => {
        if (ifIdle && !(await supervisor.stopIfIdle(ref, graceMs))) return { outcome: 'busy' };
        if (!ifIdle) await supervisor.stop(ref, graceMs);
        return { outcome: 'stopped' };
      }),

    /** A second call stores the same content under the same names. */
    snapshotWorkspace: (ref) => withHeartbeat(() => supervisor.snapshot(ref)),

    /** A second call removes what the first has left, if anything. */
    removeSandbox: ({ keepFolders = false, ...ref }) =>
      withHeartbeat(() => supervisor.remove(ref, { keepFolders })),
  };
}

const heartbeatEveryMs = 3_000;

/**
 * Sends heartbeats by a timer while the work is in progress. On cancellation, for example when the
 * worker shuts down, it detaches from the work at once. The next attempt attaches to it again.
 */
async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatEveryMs);
  try {
    return await Promise.race([work(context.cancellationSignal), context.cancelled]);
  } finally {
    clearInterval(timer);
  }
}

async function startSandbox(
  { supervisor }: HostDeps,
  ref: SandboxRef,
): Promise<{ outcome: StartOutcome }> {
  try {
    return { outcome: await supervisor.start(ref) };
  } catch (error) {
    throw startFailure(error);
  }
}

/** A session that is idle after its turn is evicted now if a run waits for its slot. */
async function runTurn(
  { supervisor, slots }: Pick<HostDeps, 'supervisor'> & { slots: Pick<SlotAssigner, 'evictAfter'> },
  input: TurnInput,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const turn = await supervisor.runTurn(input, signal);
  if (turn.outcome !== 'done') return turn;
  if (turn.hasWaiting && !turn.more) await slots.evictAfter(input.runId);
  return { outcome: 'done', more: turn.more };
}

/** `detail` is worded for the run's owner. The error's cause is not, and is not passed on. */
interface StartError extends Error {
  permanent: boolean;
  detail: string;
}

function startFailure(error: unknown): unknown {
  if (!isStartError(error)) return error;
  return ApplicationFailure.create({
    message: error.detail,
    type: failureTypes.startFailed,
    nonRetryable: error.permanent,
  });
}

const isStartError = (error: unknown): error is StartError =>
  error instanceof Error && error.name === 'SandboxStartError';
