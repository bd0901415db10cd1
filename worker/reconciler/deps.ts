import type { Logger } from 'pino';
import type { RetentionTimes } from '../../core/runs/retention-times.ts';
import type { ReconcileStore } from '../../systems/postgres/maintenance/reconcile-store.ts';
import type { RetentionStore } from '../../systems/postgres/maintenance/retention-store.ts';
import type { ScheduleStore } from '../../systems/postgres/maintenance/schedule-store.ts';
import type { RunStore } from '../../systems/postgres/runs/run-store.ts';
import type { WebhookStore } from '../../systems/postgres/runs/webhook-store.ts';
import type { MessageStore } from '../../systems/postgres/sessions/message-store.ts';
import type { FrameStream } from '../../systems/redis/frame-stream.ts';
import type { Temporal } from '../../systems/temporal/client.ts';
import type { SandboxRef } from '../../workflows/shared/activities.ts';

export interface ReconcilerDeps {
  hostId: string;
  reconcile: ReconcileStore;
  runs: Pick<RunStore, 'find' | 'recordCause' | 'endRun' | 'markWorkflowStarted'>;
  webhooks: Pick<WebhookStore, 'attempts' | 'drop'>;
  messages: Pick<MessageStore, 'unsignalled' | 'markSignalled'>;
  schedules: ScheduleStore;
  retention: RetentionStore;
  frameStream: Pick<FrameStream, 'notify' | 'expire'>;
  temporal: Pick<
    Temporal,
    | 'check'
    | 'startRun'
    | 'signalMessage'
    | 'signalStop'
    | 'signalSleep'
    | 'signalHostLost'
    | 'describe'
    | 'hasCompleted'
    | 'webhookAttempts'
    | 'terminate'
    | 'workflowsSince'
    | 'startWebhook'
    | 'ensureSchedule'
    | 'removeSchedule'
  >;
  /** This instance's sandboxes on this host's engine. */
  listSandboxes(): Promise<(SandboxRef & { hostId: string })[]>;
  removeSandbox(ref: SandboxRef): Promise<void>;
  /** What is left of sandboxes beside their containers. */
  removeOrphanedFolders(): Promise<void>;
  /** For how long, without a gap, Postgres has heard that this host is there. */
  renewedForMs(): number;
  logger: Logger;
  now(): Date;
  thresholds: ReconcilerThresholds;
  retentionTimes: RetentionTimes;
}

/** How long something may look wrong before it is taken to be wrong. */
export interface ReconcilerThresholds {
  everyMs: number;
  unstartedMs: number;
  /** A cause that has not led to an end, and is signalled again. */
  resendAfterMs: number;
  resendEveryMs: number;
  /** A cause whose workflow can no longer bring the end about. */
  stuckMs: number;
  hostLostMs: number;
  /** How long hosts have to speak, after a start or a failure, before any is judged. */
  hostWatchMs: number;
  webhookMs: number;
  /** Past its time limit, although its workflow should have ended it. */
  overdueMs: number;
}
