import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { RunEnd } from '../../core/runs/end-cause.ts';
import { failureTypes } from '../shared/activities.ts';
import type { StopRequest } from '../shared/stop-request.ts';

/** How a run ended, and whether its sandbox must be removed. */
export type RunOutcome =
  /** The agent ended on its own or was stopped, and its output was read. */
  | { kind: 'sandbox-ended'; end: RunEnd }
  /** The sandbox did not start or was lost. Its remains must be removed. */
  | { kind: 'sandbox-failed'; end: RunEnd }
  /** No host has a slot for the run, or the host is lost. The reconciler removes the sandbox. */
  | { kind: 'no-host'; end: RunEnd };

export const noCapacity: RunOutcome = {
  kind: 'no-host',
  end: { cause: 'container_start_failed', detail: 'no capacity', exitCode: null },
};

export const stoppedBeforeStart = (stop: StopRequest): RunOutcome => ({
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
  if (isHostLost(error)) return hostLost;
  return {
    kind: 'sandbox-failed',
    end: { cause: 'container_start_failed', detail: startFailure(error), exitCode: null },
  };
}

export function followFailed(error: unknown): RunOutcome {
  return isHostLost(error) ? hostLost : sandboxLost;
}

const hostLost: RunOutcome = {
  kind: 'no-host',
  end: { cause: 'max_reconnects_exceeded', detail: 'host lost', exitCode: null },
};

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
