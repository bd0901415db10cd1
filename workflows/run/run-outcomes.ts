import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { RunEnd } from '../../core/runs/end-cause.ts';
import { failureTypes } from '../shared/activities.ts';
import type { StopRequest } from '../shared/stop-request.ts';

export type RunOutcome = FinalOutcome | NotStarted;

/** How a run ended, and whether its sandbox must be removed. */
export type FinalOutcome =
  /** The agent ended on its own or was stopped, and its output was read. */
  | { kind: 'sandbox-ended'; end: RunEnd }
  /** The sandbox did not start or was lost. Its remains must be removed. */
  | { kind: 'sandbox-failed'; end: RunEnd }
  /** No host has a slot for the run, or the host is lost. The reconciler removes the sandbox. */
  | { kind: 'no-host'; end: RunEnd };

/** The host has not started the sandbox, so the run may move to another one. */
interface NotStarted {
  kind: 'not-started';
  /** How the run ends if it stays on its host; null: the start is repeated. */
  end: RunEnd | null;
}

export const noCapacity: FinalOutcome = {
  kind: 'no-host',
  end: { cause: 'container_start_failed', detail: 'no capacity', exitCode: null },
};

export const stoppedBeforeStart = (stop: StopRequest): FinalOutcome => ({
  kind: 'no-host',
  end: { cause: stop.cause, detail: null, exitCode: null },
});

/** The run was ended during the start of its sandbox. The recorded cause applies, not this one. */
export const endedBeforeStart: RunOutcome = {
  kind: 'sandbox-failed',
  end: { cause: 'terminated_by_operator', detail: null, exitCode: null },
};

/** The stop cause applies, because the sandbox reports no other. */
export const hostUnresponsive = (stop: StopRequest): RunOutcome => ({
  kind: 'no-host',
  end: { cause: stop.cause, detail: 'the host did not answer', exitCode: null },
});

export function startFailed(error: unknown): RunOutcome {
  if (isHostLost(error)) return notStarted;
  return {
    kind: 'sandbox-failed',
    end: { cause: 'container_start_failed', detail: startFailure(error), exitCode: null },
  };
}

export function followFailed(error: unknown): RunOutcome {
  return isHostLost(error) ? hostLost : sandboxLost;
}

const hostLost: FinalOutcome = {
  kind: 'no-host',
  end: { cause: 'max_reconnects_exceeded', detail: 'host lost', exitCode: null },
};

/** The host has not started the sandbox in time, or a sandbox on another host has superseded it. */
export const notStarted: RunOutcome = { kind: 'not-started', end: hostLost.end };

/** The host was reported to be stopped, draining or lost. */
export const hostLeaves: RunOutcome = { kind: 'not-started', end: null };

const sandboxLost: RunOutcome = {
  kind: 'sandbox-failed',
  end: { cause: 'max_reconnects_exceeded', detail: 'sandbox lost', exitCode: null },
};

/** The reconciler reported the host lost before an activity timed out. */
export const hostLostError = new Error('the host is lost');

/** No worker of the host started the task in time. Temporal never retries this timeout. */
export function isHostLost(error: unknown): boolean {
  if (error === hostLostError) return true;
  const cause = causeOf(error);
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
}

function startFailure(error: unknown): string {
  const cause = causeOf(error);
  const known = cause instanceof ApplicationFailure && cause.type === failureTypes.startFailed;
  return known ? cause.message : 'the sandbox did not start in time';
}

const causeOf = (error: unknown): unknown =>
  error instanceof ActivityFailure ? error.cause : undefined;
