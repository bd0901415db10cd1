import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { RunEnd } from '../../core/runs/end-cause.ts';
import { failureTypes } from '../shared/activities.ts';
import type { StopRequest } from '../shared/stop-request.ts';

/** How a run came to its end: each a name, and what is left to do about its sandbox. */
export type RunOutcome =
  /** The agent ended, by itself or because it was stopped; its output is read. */
  | { kind: 'sandbox-ended'; end: RunEnd }
  /** No sandbox came up, or it was lost; what there is of one is still to be removed. */
  | { kind: 'sandbox-failed'; end: RunEnd }
  /** There is no host to ask: it took no place, or does not answer. The reconciler removes. */
  | { kind: 'no-host'; end: RunEnd };

export const noCapacity: RunOutcome = {
  kind: 'no-host',
  end: { cause: 'container_start_failed', detail: 'no capacity', exitCode: null },
};

export const stoppedBeforeStart = (order: StopRequest): RunOutcome => ({
  kind: 'no-host',
  end: { cause: order.cause, detail: null, exitCode: null },
});

/** The run was ended while its sandbox was coming up: the recorded cause stands. */
export const endedBeforeStart: RunOutcome = {
  kind: 'sandbox-failed',
  end: { cause: 'terminated_by_operator', detail: null, exitCode: null },
};

/** The order stands, whatever the sandbox could still tell. */
export const hostUnresponsive = (order: StopRequest): RunOutcome => ({
  kind: 'no-host',
  end: { cause: order.cause, detail: 'the host did not answer', exitCode: null },
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

/** Said by those who watch the hosts, before any time-out of ours. */
export const hostLostError = new Error('the host is given up');

/** Nobody took the task off the host's queue. This time-out is never retried by the server. */
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
