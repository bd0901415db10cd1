import { ApplicationFailure } from '@temporalio/activity';
import type { RunEnd } from '../core/runs/end-cause.ts';
import {
  failureTypes,
  type HostActivities,
  type SandboxRef,
  type TurnOutcome,
} from '../workflows/shared/activities.ts';
import { withHeartbeat } from './with-heartbeat.ts';

/** What keeps this host's sandboxes, apart from any activity. */
export interface SandboxSupervisor {
  start(ref: SandboxRef): Promise<'started' | 'cancelled'>;
  follow(ref: SandboxRef, signal: AbortSignal): Promise<RunEnd>;
  stop(ref: SandboxRef, graceMs: number): Promise<void>;
  runTurn(ref: SandboxRef, signal: AbortSignal): Promise<TurnOutcome>;
  interrupt(ref: SandboxRef, messageId: string | null): Promise<void>;
  snapshot(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
  remove(ref: SandboxRef): Promise<void>;
}

export function createSandboxActivities(supervisor: SandboxSupervisor): HostActivities {
  return {
    /** A second call adopts the container that the first has made, whatever state it is in. */
    startSandbox: (ref) =>
      withHeartbeat(async () => {
        try {
          return { outcome: await supervisor.start(ref) };
        } catch (error) {
          throw startFailure(error);
        }
      }),

    /** Only attaches: a second call waits beside the first, and letting go ends nothing. */
    followRun: (ref) => withHeartbeat((signal) => supervisor.follow(ref, signal)),

    /** A second call finds the message that the first has given, or the next where that one is done. */
    runTurn: (ref) => withHeartbeat((signal) => supervisor.runTurn(ref, signal)),

    /** A second call finds the turn ended; one by hand, which names none, may find the next. */
    interruptTurn: ({ messageId, ...ref }) =>
      withHeartbeat(() => supervisor.interrupt(ref, messageId ?? null)),

    /** A second call finds a sandbox that is being stopped, or has ended, and waits with the first. */
    stopSandbox: ({ graceMs, ...ref }) => withHeartbeat(() => supervisor.stop(ref, graceMs)),

    /** A second call stores the same content again, under the same names. */
    snapshotWorkspace: (ref) => withHeartbeat(() => supervisor.snapshot(ref)),

    /** A second call finds nothing, or the rest of what the first left. */
    removeSandbox: (ref) => withHeartbeat(() => supervisor.remove(ref)),
  };
}

/** Its `detail` is made for the run's owner; its cause is not, and stays behind. */
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
