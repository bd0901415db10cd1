import { Histogram, type Registry } from 'prom-client';
import { callSeconds } from './buckets.ts';

/** `rejected`: the receiver said no; `failed`: it was not reached; `refused`: it is not called. */
export type AttemptOutcome = 'delivered' | 'rejected' | 'failed' | 'blocked';

export function createWebhookMetrics(registry: Registry) {
  const attempts = new Histogram({
    name: 'flowrun_webhook_attempt_seconds',
    help: 'Attempts to deliver a webhook, by what came of them.',
    labelNames: ['outcome'],
    buckets: callSeconds,
    registers: [registry],
  });
  const outcomes: AttemptOutcome[] = ['delivered', 'rejected', 'failed', 'blocked'];
  for (const outcome of outcomes) attempts.zero({ outcome });
  return {
    webhookAttempt: (outcome: AttemptOutcome, tookMs: number): void =>
      attempts.observe({ outcome }, tookMs / 1_000),
  };
}
