import type { Logger } from 'pino';
import type { MissedStarts } from '../../core/flows/missed-starts.ts';
import type { RetentionTimes } from '../../core/runs/retention-times.ts';
import type { EventStore } from '../../systems/postgres/endpoints/event-store.ts';
import type { JobStore } from '../../systems/postgres/maintenance/job-store.ts';
import type { ReconcileStore } from '../../systems/postgres/maintenance/reconcile-store.ts';
import type { RetentionStore } from '../../systems/postgres/maintenance/retention-store.ts';
import type { ScheduleStore } from '../../systems/postgres/maintenance/schedule-store.ts';
import type { TemporalIdentityStore } from '../../systems/postgres/maintenance/temporal-identity-store.ts';
import type { RunStore } from '../../systems/postgres/runs/run-store.ts';
import type { WebhookStore } from '../../systems/postgres/runs/webhook-store.ts';
import type { MessageStore } from '../../systems/postgres/sessions/message-store.ts';
import type { FrameStream } from '../../systems/redis/frame-stream.ts';
import type { Temporal } from '../../systems/temporal/client.ts';
import type { SandboxRef } from '../../workflows/shared/activities.ts';

export interface ReconcilerDeps {
  hostId: string;
  jobs: JobStore;
  reconcile: ReconcileStore;
  runs: Pick<
    RunStore,
    'find' | 'neededOnHost' | 'recordOverdue' | 'endRun' | 'markWorkflowStarted'
  >;
  webhooks: Pick<WebhookStore, 'attempts' | 'drop' | 'markRedeliveryStarted'>;
  events: Pick<EventStore, 'takeDue' | 'returnDue' | 'renumber' | 'markDelivered' | 'drop'>;
  messages: Pick<MessageStore, 'unsignalled' | 'markSignalled'>;
  schedules: Pick<ScheduleStore, 'unsynced' | 'resyncAll' | 'markSynced'>;
  onStartsMissed(missed: MissedStarts): void;
  retention: RetentionStore;
  temporalIdentity: Pick<TemporalIdentityStore, 'find' | 'recordMissing' | 'clearMissing'>;
  frameStream: Pick<FrameStream, 'notify' | 'expireEnded' | 'retryExpiries'>;
  temporal: Pick<
    Temporal,
    | 'check'
    | 'verifyIdentity'
    | 'wasVerified'
    | 'startRun'
    | 'signalMessage'
    | 'stopRun'
    | 'signalSleep'
    | 'signalHostLost'
    | 'describe'
    | 'hasFinished'
    | 'closedAt'
    | 'webhookAttempts'
    | 'terminate'
    | 'workflowsSince'
    | 'closedWorkflows'
    | 'startWebhook'
    | 'startEvent'
    | 'ensureSchedule'
    | 'removeSchedule'
  >;
  /** This instance's sandboxes on this host's engine. */
  listSandboxes(): Promise<(SandboxRef & { hostId: string })[]>;
  removeSandbox(ref: SandboxRef): Promise<void>;
  /** Removes the folders of sandboxes that have neither a run nor a container. */
  removeOrphanedFolders(): Promise<void>;
  /** How long this host's heartbeat has reached Postgres without a gap. */
  renewedForMs(): number;
  logger: Logger;
  now(): Date;
  thresholds: ReconcilerThresholds;
  retentionTimes: RetentionTimes;
}

/** How long a state may last before the reconciler repairs it. */
export interface ReconcilerThresholds {
  everyMs: number;
  unstartedMs: number;
  /** The stop signal is sent again if the run has not ended. */
  resendAfterMs: number;
  resendEveryMs: number;
  /** The run is ended by force, because its workflow cannot end it. */
  stuckMs: number;
  hostLostMs: number;
  /** How long hosts may take to send a heartbeat after a start or an outage of Postgres. */
  hostWatchMs: number;
  webhookMs: number;
  /** The run is past its time limit, and its workflow has not ended it. */
  overdueMs: number;
}
