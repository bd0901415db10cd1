// Logs and counts what happens to runs. The modules call an observer and know no metrics.

import type { Logger } from 'pino';
import type { ActivityDeps } from '../activities/index.ts';
import { dayOf } from '../core/agent/usage.ts';
import type { MissedStartReason, MissedStarts } from '../core/flows/missed-starts.ts';
import type { LedgerEntry } from '../core/metering/ledger-entry.ts';
import { findPrice, type PriceList, plainModelName } from '../core/metering/model-prices.ts';
import type { ModelErrorType } from '../core/model/model-error-type.ts';
import type { WebhookOutcome } from '../core/webhook.ts';
import type { RunObserver } from '../systems/postgres/runs/run-store.ts';
import type { PublishOutcome } from '../systems/redis/frame-publisher.ts';
import type { StartOutcome } from '../workflows/shared/activities.ts';
import type { ControlRefusal } from './egress/control-limits.ts';
import type { SandboxObserver } from './sandbox/deps.ts';

export interface Telemetry {
  metrics: WorkerMetrics;
  logger: Logger;
}

/** Passed to the run store, which detects the first start and the first end. */
export function runObserver({ metrics, logger }: Telemetry): RunObserver {
  return {
    onStarted({ runId, requestId, waitedMs }) {
      metrics.runStarted(waitedMs);
      logger.info({ runId, requestId, waitedMs: Math.round(waitedMs) }, 'run_started');
    },
    onEnded(run) {
      const { runId, requestId, projectId, flowId } = run;
      const { endCause: cause, exitCode, startedAt, endedAt } = run;
      const ranMs = startedAt && endedAt && endedAt.getTime() - startedAt.getTime();
      metrics.runEnded(cause ?? 'unknown', ranMs);
      const about = { runId, requestId, projectId, flowId };
      logger.info({ ...about, cause, exitCode, ranMs }, 'run_ended');
    },
  };
}

/**
 * Observes the host's sandboxes. Models without a price share one label, because an agent can send
 * any name.
 */
export function sandboxObserver(
  { metrics }: Pick<Telemetry, 'metrics'>,
  prices: PriceList,
): SandboxObserver {
  return {
    onSandboxStart: metrics.sandboxStart,
    onTurnStarted: metrics.turnStarted,
    onPermitGranted: metrics.sandboxStartWait,
    onBatchStored: metrics.batchStored,
    onModelCall(call) {
      const name = plainModelName(call.model);
      const day = dayOf(call.startedAt);
      const isKnown = findPrice(name, { prices, day }) !== null;
      metrics.modelCall(call, isKnown ? name : 'other');
    },
    onModelCallRefused: metrics.modelCallRefused,
  };
}

type ActivityObserver = Pick<ActivityDeps, 'onWebhookAttempt'>;

export function activityObserver({ metrics }: Telemetry): ActivityObserver {
  return {
    onWebhookAttempt: (sent, tookMs) => metrics.webhookAttempt(attemptOutcome(sent), tookMs),
  };
}

/** Reports scheduled starts without a run. */
export function missedStartsObserver({ metrics, logger }: Telemetry): {
  onStartsMissed: (missed: MissedStarts) => void;
} {
  return {
    onStartsMissed({ scheduledAt, ...missed }) {
      metrics.scheduledStartsMissed(missed.reason, missed.count);
      const at = scheduledAt === undefined ? {} : { scheduledAt: scheduledAt.toISOString() };
      logger.warn({ ...missed, ...at }, 'schedule_missed');
    },
  };
}

function attemptOutcome(sent: WebhookOutcome): 'delivered' | 'rejected' | 'failed' | 'blocked' {
  if (sent.outcome !== 'answered') return sent.outcome;
  return sent.status >= 200 && sent.status < 300 ? 'delivered' : 'rejected';
}

interface WorkerMetrics {
  runStarted(waitedMs: number): void;
  runEnded(cause: string, ranMs: number | null): void;
  turnStarted(waitedMs: number): void;
  batchStored(batch: { frames: number; bytes: number; tookMs: number }): void;
  batchPublished(outcome: PublishOutcome): void;
  sandboxStart(outcome: StartOutcome | 'failed', tookMs: number): void;
  sandboxStartWait(waitedMs: number): void;
  controlRefused(reason: ControlRefusal): void;
  webhookAttempt(outcome: 'delivered' | 'rejected' | 'failed' | 'blocked', tookMs: number): void;
  scheduledStartsMissed(reason: MissedStartReason, count: number): void;
  modelCall(call: LedgerEntry, modelLabel: string): void;
  modelCallRefused(reason: ModelErrorType): void;
}

export const noopMetrics: WorkerMetrics = {
  runStarted: () => undefined,
  runEnded: () => undefined,
  turnStarted: () => undefined,
  batchStored: () => undefined,
  batchPublished: () => undefined,
  sandboxStart: () => undefined,
  sandboxStartWait: () => undefined,
  controlRefused: () => undefined,
  webhookAttempt: () => undefined,
  scheduledStartsMissed: () => undefined,
  modelCall: () => undefined,
  modelCallRefused: () => undefined,
};
