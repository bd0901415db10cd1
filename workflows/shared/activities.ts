import type { MissedStartReason } from '../../core/flows/missed-starts.ts';
import type { EndCause, RunEnd } from '../../core/runs/end-cause.ts';
import type { SessionSlotClaim } from '../../core/sessions/session-slot.ts';
import type { InterruptPayload } from './signals.ts';

/** Names a sandbox: its run, and its number among the run's sandboxes. */
export interface SandboxRef {
  runId: string;
  generation: number;
}

/** A slot for one sandbox of a run. */
export interface HostSlot {
  hostId: string;
  generation: number;
}

/** The cause applies only if none was recorded before. */
export interface EndRunInput extends RunEnd {
  runId: string;
  /** For a plain run: whether the final state of its working directory was stored. */
  filesStored?: boolean;
}

export interface EndRunResult {
  /** Whether the run has a webhook. */
  webhook: boolean;
  cause: EndCause;
  /** The host needs the sandbox's folders until it has stored the files. */
  hasUnstoredFiles: boolean;
  /** The project has many undelivered webhooks, so this one waits for the separate slots. */
  hasWebhookBacklog?: boolean;
}

/**
 * `cancelled`: the run ended before the start. `superseded`: a later sandbox has replaced this one.
 */
export type StartOutcome = 'started' | 'cancelled' | 'superseded';

export interface TurnInput extends SandboxRef {
  /**
   * The messages that the workflow was signalled since the last turn. If all their turns have
   * ended, the host need not look for messages. Without IDs, it looks.
   */
  messageIds?: string[];
}

export type TurnOutcome =
  | { outcome: 'done'; more: boolean }
  /** The session's configuration has changed since the sandbox started. */
  | { outcome: 'reconfigure' }
  /** The sandbox has ended, or another one has replaced it. */
  | { outcome: 'sandbox_ended' };

interface SessionIdleState {
  /** Null if the session has work. */
  idleForMs: number | null;
  /**
   * Since the session last had a stream reader or background work: 0 while it has either or if it
   * is unknown, null if it never had one.
   */
  unattendedForMs: number | null;
}

export interface DeliverWebhookInput {
  runId: string;
  /** The lowest number that an attempt may have: above 1 if earlier ones were made elsewhere. */
  firstAttempt: number;
  /** The number of a redelivery that an operator requested; absent for the run's own delivery. */
  delivery?: number;
}

/** An event for an endpoint. */
export interface DeliverEventInput {
  eventId: string;
  /** 0: the first delivery; n: the n-th that an operator requested. */
  delivery: number;
}

/** One scheduled start, with the ID of its run. */
export interface StartInput {
  flowId: string;
  runId: string;
  /** As ISO 8601. */
  scheduledAt: string;
}

/** The result of a schedule's tick: a run, or why there is none. */
export type ScheduledOutcome = 'admitted' | 'unscheduled' | MissedStartReason;

/** Any worker runs these: a few SQL statements, or one request to a webhook receiver. */
export interface RunActivities {
  /**
   * Claims a slot for the sandbox after number `after`, whose host did not start it; 0 for the
   * first. Returns number `after` itself if the run stays on its host. Null: the run waits, and a
   * signal follows when it is assigned a slot.
   */
  claimSlot(input: { runId: string; after: number }): Promise<HostSlot | null>;
  /** Records why the run is about to end. The first recorded cause stays. */
  recordCause(input: { runId: string; cause: EndCause; detail: string | null }): Promise<void>;
  /**
   * Ends the run in one statement and claims its webhook. A second call returns the same result.
   */
  endRun(input: EndRunInput): Promise<EndRunResult>;
  /**
   * Makes one delivery attempt. Throws if it fails, with the delay of the next one, or for good if
   * it was the last. Returns at once if already delivered.
   */
  deliverWebhook(input: DeliverWebhookInput): Promise<{ status: number | null }>;
  /** Abandons the webhook after its last attempt. Has no effect if it was delivered. */
  dropWebhook(input: { runId: string }): Promise<void>;
  /** The same as `deliverWebhook`, for an event for an endpoint. */
  deliverEvent(input: DeliverEventInput): Promise<{ status: number | null }>;
  /** Abandons the event after its last attempt. Has no effect if it was delivered. */
  dropEvent(input: { eventId: string }): Promise<void>;
  /** Admits a run of the flow under this id and starts it. A second call finds it admitted. */
  triggerScheduledRun(input: StartInput): Promise<{ outcome: ScheduledOutcome }>;
  /** Reports a start that could not be made in time. A second call changes nothing. */
  missScheduledRun(input: StartInput): Promise<void>;
  /** Requests the cancellation of the run's workflow, which then closes as cancelled. */
  cancelWorkflow(input: { runId: string; workflowId: string }): Promise<void>;
}

/** Any worker runs these for a session. */
export interface SessionActivities {
  /**
   * Claims a slot for the sandbox after number `after`. `no_capacity`: the session waits, and a
   * signal follows when it is assigned a slot.
   */
  claimSessionSlot(input: { runId: string; after: number }): Promise<SessionSlotClaim>;
  /** Fails the message that got no slot. A second call changes nothing. */
  failTurn(input: SandboxRef): Promise<{ more: boolean }>;
  getSessionIdleness(input: { runId: string }): Promise<SessionIdleState>;
}

/** Only the sandbox's host runs these. */
export interface HostActivities {
  /** Creates or adopts the sandbox and starts it. */
  startSandbox(ref: SandboxRef): Promise<{ outcome: StartOutcome }>;
  /** Waits until the agent has ended and its output is read to the last byte. Records the cause. */
  followRun(ref: SandboxRef): Promise<RunEnd>;
  /**
   * Interrupts the agent, then ends the sandbox. Has no effect without a running sandbox. With
   * `ifIdle`, a sandbox whose session has work continues, and the outcome is `busy`.
   */
  stopSandbox(
    input: SandboxRef & { graceMs: number; ifIdle?: true },
  ): Promise<{ outcome: 'stopped' | 'busy' }>;
  /** Stores the files of the working directory as blobs. */
  snapshotWorkspace(ref: SandboxRef): Promise<{ files: number; skipped: number }>;
  /** Gives the session's next message to the agent and waits for the end of the turn. */
  runTurn(input: TurnInput): Promise<TurnOutcome>;
  /** Ends the turn of the message, or the current turn without a message id. */
  interruptTurn(input: SandboxRef & InterruptPayload): Promise<void>;
  /** Removes the container, its socket and its folders unless they are needed. Safe to repeat. */
  removeSandbox(input: SandboxRef & { keepFolders?: boolean }): Promise<void>;
}

/**
 * All side effects of the workflows. Inputs and results are ids, causes and counts: prompts,
 * configuration and output never enter a history. Each activity can be called again.
 */
export interface Activities extends RunActivities, SessionActivities, HostActivities {}

/**
 * Failures that Temporal shows by type. The message of `startFailed` is shown to the run's owner.
 */
export const failureTypes = {
  startFailed: 'ContainerStartFailed',
} as const;
