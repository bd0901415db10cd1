// Logs and counts what happens to runs. Each function wraps a module that knows neither logs nor
// metrics.

import type { Logger } from 'pino';
import { dayOf } from '../core/agent/usage.ts';
import type { LedgerEntry } from '../core/metering/ledger-entry.ts';
import { findPrice, type PriceList, plainModelName } from '../core/metering/model-prices.ts';
import type { WebhookOutcome, WebhookSender } from '../core/webhook.ts';
import type { FrameStore } from '../systems/postgres/log/frame-store.ts';
import type { RunObserver } from '../systems/postgres/runs/run-store.ts';
import type { TurnStore } from '../systems/postgres/sessions/turn-store.ts';
import type { PublishOutcome } from '../systems/redis/frame-publisher.ts';
import type { FrameStream } from '../systems/redis/frame-stream.ts';
import type { StartOutcome } from '../workflows/shared/activities.ts';
import type { Supervisor } from './sandbox/supervisor.ts';

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

export function instrumentTurns(turns: TurnStore, metrics: WorkerMetrics): TurnStore {
  return {
    ...turns,
    async claim(lease) {
      const claimed = await turns.claim(lease);
      const isBegun = claimed.outcome === 'turn' && claimed.announcedFrame !== null;
      if (isBegun && claimed.waitedMs !== null) metrics.turnStarted(claimed.waitedMs);
      return claimed;
    },
  };
}

/** Measures batches, not single frames. */
export function instrumentFrames(frames: FrameStore, metrics: WorkerMetrics): FrameStore {
  return {
    ...frames,
    async append(batch, chat) {
      const from = performance.now();
      const appended = await frames.append(batch, chat);
      if (appended.outcome === 'stored') {
        metrics.batchStored({
          frames: batch.frames.length,
          bytes: batch.toOffset - batch.fromOffset,
          tookMs: performance.now() - from,
        });
      }
      return appended;
    },
  };
}

export function instrumentFrameStream(stream: FrameStream, metrics: WorkerMetrics): FrameStream {
  return {
    ...stream,
    async publish(runId, batch) {
      const outcome = await stream.publish(runId, batch);
      metrics.batchPublished(outcome);
      return outcome;
    },
  };
}

export function instrumentStarts(supervisor: Supervisor, metrics: WorkerMetrics): Supervisor {
  return {
    ...supervisor,
    async start(ref) {
      const from = performance.now();
      let outcome: StartOutcome | 'failed' = 'failed';
      try {
        outcome = await supervisor.start(ref);
        return outcome;
      } finally {
        metrics.sandboxStart(outcome, performance.now() - from);
      }
    },
  };
}

export function instrumentWebhooks(send: WebhookSender, metrics: WorkerMetrics): WebhookSender {
  return async (request) => {
    const from = performance.now();
    const outcome = await send(request);
    metrics.webhookAttempt(attemptOutcome(outcome), performance.now() - from);
    return outcome;
  };
}

/** Models without a price share one label, because an agent can send any name. */
export function modelCallObserver(metrics: WorkerMetrics, prices: PriceList) {
  return (call: LedgerEntry): void => {
    const name = plainModelName(call.model);
    const day = dayOf(call.startedAt);
    const isKnown = findPrice(name, { prices, day }) !== null;
    metrics.modelCall(call, isKnown ? name : 'other');
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
  webhookAttempt(outcome: 'delivered' | 'rejected' | 'failed' | 'blocked', tookMs: number): void;
  modelCall(call: LedgerEntry, modelLabel: string): void;
}

export const noopMetrics: WorkerMetrics = {
  runStarted: () => undefined,
  runEnded: () => undefined,
  turnStarted: () => undefined,
  batchStored: () => undefined,
  batchPublished: () => undefined,
  sandboxStart: () => undefined,
  webhookAttempt: () => undefined,
  modelCall: () => undefined,
};
