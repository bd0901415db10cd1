import { defineSignal } from '@temporalio/workflow';
import type { RunTimeouts } from './run-timeouts.ts';
import type { SessionTimeouts } from './session-timeouts.ts';

/** What a run's workflow is told at its start: ids and times, nothing secret and nothing long. */
export interface RunInput {
  runId: string;
  projectId: string;
  flowId: string;
  instance: string;
  /** The place that admission found; null where every host was full. */
  hostId: string | null;
  generation: number;
  /** What differs from the defaults of run-times.ts. */
  timeouts: Partial<RunTimeouts>;
}

/** What a session's workflow is told, at its start and whenever its history begins anew. */
export interface SessionInput {
  runId: string;
  projectId: string;
  flowId: string;
  instance: string;
  timeouts: Partial<SessionTimeouts>;
  /** What the history before this one has come to. */
  state?: SessionState;
}

export interface SessionState {
  sandbox: { hostId: string; generation: number } | null;
  /** The last sandbox that there was. */
  generation: number;
  hasPendingMessages: boolean;
  /** Sandboxes lost since the last turn that was finished. */
  consecutiveLosses: number;
}

export interface WebhookInput {
  runId: string;
  /** The number of the next attempt: those before it were made by the run's own workflow. */
  firstAttempt: number;
  /** Of those that an operator asked for, which; absent for the one that the run owes. */
  delivery?: number;
  instance: string;
}

export interface ScheduledTriggerInput {
  flowId: string;
  instance: string;
}

export interface StopSignalPayload {
  graceMs: number;
}

/** Of which message the turn is to be ended; by hand, of whichever goes on. */
export interface InterruptPayload {
  messageId?: string;
}

/** Which of a session's sandboxes, by its number. */
export interface HostLostPayload {
  generation: number;
}

/** Whoever sends it has recorded the cause before; a signal by hand counts as the operator's. */
export const stopSignal = defineSignal<[StopSignalPayload]>('stop');

/** There is a message in Postgres; which one is for an operator to read. */
export const messageSignal = defineSignal<[{ messageId: string }]>('message');
export const interruptSignal = defineSignal<[InterruptPayload?]>('interrupt');
/** The host of this sandbox is given up. */
export const hostLostSignal = defineSignal<[HostLostPayload]>('hostLost');
/** Somebody else needs the place. */
export const sleepSignal = defineSignal('sleep');
