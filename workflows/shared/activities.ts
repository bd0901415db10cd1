import type { ActivityOptions } from '@temporalio/workflow';
import type { EndCause, RunEnd } from '../../core/runs/end-cause.ts';
import { followQueue, hostQueue, runQueue, webhookQueue } from '../../core/temporal/task-queues.ts';
import type { RunTimeouts } from './run-timeouts.ts';
import type { InterruptPayload } from './signals.ts';
import { webhookRetry } from './webhook-retry.ts';

/** A sandbox is named by its run and how many the run has had before. */
export interface SandboxRef {
  runId: string;
  generation: number;
}

export interface EndRunInput {
  runId: string;
  /** Counts only where no cause was recorded before. */
  cause: EndCause;
  detail: string | null;
  exitCode: number | null;
}

/** Where a session's next sandbox is to be, and which one it is. */
export type SessionSlot =
  | { outcome: 'assigned'; hostId: string; generation: number }
  /** Every message's turn has ended. */
  | { outcome: 'no_work' }
  /** The session has a cause to end. */
  | { outcome: 'ended' };

export type TurnOutcome =
  | { outcome: 'done'; more: boolean }
  /** The sandbox has another configuration than the session by now. */
  | { outcome: 'reconfigure' }
  /** This sandbox does not go on with the session. */
  | { outcome: 'over' };

export interface SessionIdleness {
  /** Null: it has something to do. */
  idleForMs: number | null;
  /** Since somebody held its stream open; 0 while that is not known, null where nobody did. */
  unattendedForMs: number | null;
}

export interface WebhookAttempt {
  runId: string;
  /** The number of this activity's first attempt: more than 1 where another made those before. */
  firstAttempt: number;
  /** Of those that an operator asked for, which; absent for the one that the run owes. */
  delivery?: number;
}

/** What came of one moment of a schedule; why there is no run, where there is none. */
export type ScheduledOutcome =
  | 'admitted'
  | 'unscheduled'
  | 'RUNNER_OFFLINE'
  | 'CONCURRENT_LIMIT'
  | 'MONTHLY_QUOTA';

/** What any worker can do: a few statements in the database, or a request to a receiver. */
export interface RunActivities {
  /** Takes a free place; throws while every host is full, so that the retry asks again. */
  claimSlot(input: { runId: string }): Promise<{ hostId: string }>;
  /** Records why the run is about to end; the first recorded cause stays. */
  recordCause(input: { runId: string; cause: EndCause; detail: string | null }): Promise<void>;
  /** Ends the run in one statement and claims the webhook. A second call returns what the first did. */
  endRun(input: EndRunInput): Promise<{ webhook: boolean; cause: EndCause }>;
  /** One attempt at the webhook; throws to be retried. Delivered already: returns at once. */
  deliverWebhook(input: WebhookAttempt): Promise<{ status: number | null }>;
  /** Admits a run of the flow under this id and starts it; a second call finds it admitted. */
  triggerScheduledRun(input: {
    flowId: string;
    runId: string;
  }): Promise<{ outcome: ScheduledOutcome }>;
  /** Gives the webhook up after its last attempt. Harmless when it was delivered. */
  dropWebhook(input: { runId: string }): Promise<void>;
}

/** What any worker can do for a session. */
export interface SessionActivities {
  /** A place for the sandbox after this one; throws while every host is full. */
  claimSessionSlot(input: { runId: string; after: number }): Promise<SessionSlot>;
  /** Fails the message for which no place was to be had. A second call changes nothing. */
  failTurn(input: SandboxRef): Promise<{ more: boolean }>;
  getSessionIdleness(input: { runId: string }): Promise<SessionIdleness>;
}

/** What only the host that holds the sandbox can do. */
export interface HostActivities {
  /** Creates, or adopts, and starts the sandbox. `over`: the run was ended before it could start. */
  startSandbox(ref: SandboxRef): Promise<{ outcome: 'started' | 'over' }>;
  /** Waits until the agent has ended and its output is read to the last byte; records the cause. */
  followRun(ref: SandboxRef): Promise<RunEnd>;
  /** Interrupts, then ends the sandbox. Harmless when it has ended or never was. */
  stopSandbox(input: SandboxRef & { graceMs: number }): Promise<void>;
  /** Stores the working directory's files as blobs. */
  snapshotWorkspace(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
  /** Gives the sandbox its session's next message and waits for the end of the turn. */
  runTurn(ref: SandboxRef): Promise<TurnOutcome>;
  /**
   * Ends the turn of this message, or of whichever goes on where none is named. Harmless when that one
   * has ended.
   */
  interruptTurn(input: SandboxRef & InterruptPayload): Promise<void>;
  /** Removes the container, its socket and its folders. Harmless when they are gone. */
  removeSandbox(ref: SandboxRef): Promise<void>;
}

/**
 * Everything the workflows ask of the world. Ids, causes and counts only: prompts, configuration
 * and output never enter a history. Each is safe to call again.
 */
export interface Activities extends RunActivities, SessionActivities, HostActivities {}

type OptionsFor<A> = { [K in keyof A]: ActivityOptions };

/** Failure types that a workflow tells apart; everything else is retried until its time is up. */
export const failureTypes = {
  noCapacity: 'NoCapacity',
  startFailed: 'ContainerStartFailed',
  sandboxLost: 'SandboxLost',
} as const;

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

const backoff = {
  initialInterval: 1 * second,
  backoffCoefficient: 2,
  maximumInterval: 10 * second,
};
export function runActivityOptions(
  instance: string,
  times: RunTimeouts,
  firstWebhookAttempt = 1,
): OptionsFor<RunActivities> {
  const shortActivity = {
    taskQueue: runQueue(instance),
    startToCloseTimeout: 30 * second,
    scheduleToCloseTimeout: 1 * day,
    retry: backoff,
  };
  return {
    claimSlot: {
      ...shortActivity,
      summary: 'wait for a free place',
      scheduleToCloseTimeout: times.noCapacityMs,
      retry: { initialInterval: times.slotPollMs, backoffCoefficient: 1 },
      cancellationType: 'TRY_CANCEL',
    },
    recordCause: { ...shortActivity, summary: 'record why the run ends' },
    endRun: { ...shortActivity, summary: 'end the run' },
    deliverWebhook: {
      taskQueue: webhookQueue(instance),
      summary: 'deliver run.finished',
      startToCloseTimeout: 20 * second,
      scheduleToCloseTimeout: 1 * day,
      retry: webhookRetry(firstWebhookAttempt),
    },
    dropWebhook: { ...shortActivity, summary: 'give the webhook up' },
    triggerScheduledRun: {
      ...shortActivity,
      summary: 'start a run as scheduled',
      scheduleToCloseTimeout: 10 * minute,
    },
  };
}

export function sessionActivityOptions(
  instance: string,
  times: RunTimeouts,
): OptionsFor<SessionActivities> {
  const { claimSlot: claimPlace, endRun } = runActivityOptions(instance, times);
  return {
    claimSessionSlot: { ...claimPlace, summary: 'take a place for the next sandbox' },
    failTurn: { ...endRun, summary: 'fail the message that found no place' },
    getSessionIdleness: { ...endRun, summary: 'ask whether anybody is there' },
  };
}

/**
 * A task that no worker of the host takes within `hostDispatchMs` means that the host is lost. The
 * heartbeat lets an attempt that died with its worker be tried again within seconds.
 */
export function hostActivityOptions(
  instance: string,
  hostId: string,
  times: RunTimeouts,
): OptionsFor<HostActivities> {
  const hostActivity = {
    taskQueue: hostQueue(instance, hostId),
    scheduleToStartTimeout: times.hostScheduleToStartMs,
    heartbeatTimeout: times.heartbeatMs,
    retry: backoff,
    cancellationType: 'TRY_CANCEL',
  } as const;
  return {
    startSandbox: {
      ...hostActivity,
      summary: `start the sandbox on ${hostId}`,
      startToCloseTimeout: 2 * minute,
      scheduleToCloseTimeout: times.startMs,
    },
    followRun: {
      ...hostActivity,
      summary: `follow the agent on ${hostId}`,
      taskQueue: followQueue(instance, hostId),
      startToCloseTimeout: times.runMs + 30 * minute,
      scheduleToCloseTimeout: times.runMs + 60 * minute,
    },
    runTurn: {
      ...hostActivity,
      summary: `a turn on ${hostId}`,
      taskQueue: followQueue(instance, hostId),
      startToCloseTimeout: times.runMs + 30 * minute,
      scheduleToCloseTimeout: times.runMs + 60 * minute,
      retry: { ...backoff, initialInterval: second / 10 },
    },
    interruptTurn: {
      ...hostActivity,
      summary: `interrupt the turn on ${hostId}`,
      startToCloseTimeout: 30 * second,
      scheduleToCloseTimeout: 2 * minute,
    },
    stopSandbox: {
      ...hostActivity,
      summary: `stop the sandbox on ${hostId}`,
      startToCloseTimeout: 3 * minute,
      scheduleToCloseTimeout: 10 * minute,
    },
    snapshotWorkspace: {
      ...hostActivity,
      summary: `collect the workspace from ${hostId}`,
      startToCloseTimeout: times.snapshotMs,
      scheduleToCloseTimeout: times.snapshotMs,
    },
    removeSandbox: {
      ...hostActivity,
      summary: `remove the sandbox from ${hostId}`,
      startToCloseTimeout: 2 * minute,
      scheduleToCloseTimeout: 10 * minute,
    },
  };
}
