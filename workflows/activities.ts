import type { ActivityOptions } from '@temporalio/workflow';
import type { EndCause } from '../core/end-cause.ts';
import type { SandboxEnd } from '../core/sandbox.ts';
import { hostQueue, runQueue, watchQueue, webhookQueue } from '../core/task-queues.ts';
import type { RunTimes } from './run-times.ts';

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

export interface WebhookAttempt {
  runId: string;
  /** The number of this activity's first attempt: more than 1 where another made those before. */
  firstAttempt: number;
}

/** What any worker can do: a few statements in the database, or a request to a receiver. */
export interface RunActivities {
  /** Takes a free place; throws while every host is full, so that the retry asks again. */
  claimPlace(input: { runId: string }): Promise<{ hostId: string }>;
  /** Records why the run is about to end; the first recorded cause stays. */
  recordCause(input: { runId: string; cause: EndCause; detail: string | null }): Promise<void>;
  /** Ends the run in one statement and claims the webhook. A second call returns what the first did. */
  endRun(input: EndRunInput): Promise<{ webhook: boolean; cause: EndCause }>;
  /** One attempt at the webhook; throws to be retried. Delivered already: returns at once. */
  deliverWebhook(input: WebhookAttempt): Promise<{ status: number | null }>;
  /** Gives the webhook up after its last attempt. Harmless when it was delivered. */
  dropWebhook(input: { runId: string }): Promise<void>;
}

/** What only the host that holds the sandbox can do. */
export interface HostActivities {
  /** Creates, or adopts, and starts the sandbox. `over`: the run was ended before it could start. */
  startSandbox(ref: SandboxRef): Promise<{ outcome: 'started' | 'over' }>;
  /** Waits until the agent has ended and its output is read to the last byte; records the cause. */
  followRun(ref: SandboxRef): Promise<SandboxEnd>;
  /** Interrupts, then ends the sandbox. Harmless when it has ended or never was. */
  stopSandbox(input: SandboxRef & { graceMs: number }): Promise<void>;
  /** Stores the working directory's files as blobs. */
  collectWorkspace(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
  /** Removes the container, its socket and its folders. Harmless when they are gone. */
  removeSandbox(ref: SandboxRef): Promise<void>;
}

/**
 * Everything the workflows ask of the world. Ids, causes and counts only: prompts, configuration
 * and output never enter a history. Each is safe to call again.
 */
export interface Activities extends RunActivities, HostActivities {}

type Plan<A> = { [K in keyof A]: ActivityOptions };

/** Failure types that a workflow tells apart; everything else is retried until its time is up. */
export const failureTypes = {
  noPlaceFree: 'NoPlaceFree',
  startFailed: 'ContainerStartFailed',
  sandboxLost: 'SandboxLost',
} as const;

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

const steadily = {
  initialInterval: 1 * second,
  backoffCoefficient: 2,
  maximumInterval: 10 * second,
};
/** 2, 10, and min(50, 30) seconds between the four attempts. */
const webhookRetry = {
  initialInterval: 2 * second,
  backoffCoefficient: 5,
  maximumInterval: 30 * second,
  maximumAttempts: 4,
};

export function runPlan(instance: string, times: RunTimes): Plan<RunActivities> {
  const brief = {
    taskQueue: runQueue(instance),
    startToCloseTimeout: 30 * second,
    scheduleToCloseTimeout: 1 * day,
    retry: steadily,
  };
  return {
    claimPlace: {
      ...brief,
      summary: 'wait for a free place',
      scheduleToCloseTimeout: times.noCapacityMs,
      retry: { initialInterval: times.askAgainMs, backoffCoefficient: 1 },
      cancellationType: 'TRY_CANCEL',
    },
    recordCause: { ...brief, summary: 'record why the run ends' },
    endRun: { ...brief, summary: 'end the run' },
    deliverWebhook: {
      taskQueue: webhookQueue(instance),
      summary: 'deliver run.finished',
      startToCloseTimeout: 20 * second,
      scheduleToCloseTimeout: 1 * day,
      retry: webhookRetry,
    },
    dropWebhook: { ...brief, summary: 'give the webhook up' },
  };
}

/**
 * A task that no worker of the host takes within `hostDispatchMs` means that the host is lost. The
 * heartbeat lets an attempt that died with its worker be tried again within seconds.
 */
export function hostPlan(instance: string, hostId: string, times: RunTimes): Plan<HostActivities> {
  const onHost = {
    taskQueue: hostQueue(instance, hostId),
    scheduleToStartTimeout: times.hostDispatchMs,
    heartbeatTimeout: times.heartbeatMs,
    retry: steadily,
    cancellationType: 'TRY_CANCEL',
  } as const;
  return {
    startSandbox: {
      ...onHost,
      summary: `start the sandbox on ${hostId}`,
      startToCloseTimeout: 2 * minute,
      scheduleToCloseTimeout: times.startMs,
    },
    followRun: {
      ...onHost,
      summary: `follow the agent on ${hostId}`,
      taskQueue: watchQueue(instance, hostId),
      startToCloseTimeout: times.runMs + 30 * minute,
      scheduleToCloseTimeout: times.runMs + 60 * minute,
    },
    stopSandbox: {
      ...onHost,
      summary: `stop the sandbox on ${hostId}`,
      startToCloseTimeout: 3 * minute,
      scheduleToCloseTimeout: 10 * minute,
    },
    collectWorkspace: {
      ...onHost,
      summary: `collect the workspace from ${hostId}`,
      startToCloseTimeout: times.collectMs,
      scheduleToCloseTimeout: times.collectMs,
    },
    removeSandbox: {
      ...onHost,
      summary: `remove the sandbox from ${hostId}`,
      startToCloseTimeout: 2 * minute,
      scheduleToCloseTimeout: 10 * minute,
    },
  };
}
