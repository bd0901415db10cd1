import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import type { Logger } from 'pino';
import { failpoint } from '../core/failpoint.ts';
import { limits } from '../core/limits.ts';
import {
  signatureBase,
  type WebhookOutcome,
  type WebhookSender,
  webhookHeaders,
} from '../core/webhook.ts';
import type { ClaimedAttempt, WebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import type { RunActivities } from '../workflows/shared/activities.ts';

export interface WebhookDeps {
  webhooks: Pick<WebhookStore, 'claimAttempt' | 'recordAttempt'>;
  sendWebhook: WebhookSender;
  onWebhookAttempt(outcome: WebhookOutcome, tookMs: number): void;
  logger: Logger;
  now: () => Date;
}

type PendingWebhook = Extract<ClaimedAttempt, { url: string }>;
type EndRun = Pick<RunActivities, 'endRun'>;

interface AttemptId {
  runId: string;
  attempt: number;
  delivery: number;
}

/**
 * Makes one attempt. The attempt is claimed before it is made, so a crash in between uses it up: a
 * receiver gets at most four attempts of a delivery. A second call with the same number sends
 * nothing.
 */
export async function attemptDelivery(
  deps: WebhookDeps & EndRun,
  { runId, attempt, delivery }: AttemptId,
): Promise<{ status: number | null }> {
  if (attempt > limits.webhook.attempts) throw abandoned('no attempt is left');
  const claimed = await claim(deps, { runId, attempt, delivery });
  if ('done' in claimed) return { status: claimed.done };
  if ('unavailable' in claimed) return duplicateAttempt(claimed.unavailable);
  failpoint('webhook.claimed');
  const startedAt = performance.now();
  const outcome = await deps.sendWebhook(signed(runId, claimed, deps.now()));
  const tookMs = performance.now() - startedAt;
  deps.onWebhookAttempt(outcome, tookMs);
  failpoint('webhook.sent');
  const about = { runId, requestId: claimed.requestId, delivery, attempt };
  deps.logger.info({ ...about, ...outcome, tookMs: Math.round(tookMs) }, 'webhook_attempt');
  await deps.webhooks.recordAttempt(runId, attempt, { ...resultOf(outcome), delivery });
  failpoint('webhook.recorded');
  return toActivityResult(outcome);
}

/**
 * A delivery starts after the run's end. A run without an end was restored from a backup that lost
 * it, so it ends here, and the remaining attempts deliver that end.
 */
async function claim(
  deps: WebhookDeps & EndRun,
  { runId, attempt, delivery }: AttemptId,
): Promise<Exclude<ClaimedAttempt, { unended: true }>> {
  const claimed = await deps.webhooks.claimAttempt(runId, attempt, delivery);
  if (!('unended' in claimed)) return claimed;
  await deps.endRun({ runId, ...endLost, exitCode: null });
  return claim(deps, { runId, attempt, delivery });
}

const endLost = {
  cause: 'max_reconnects_exceeded',
  detail: 'the database restore lost its end',
} as const;

function duplicateAttempt(reason: 'taken' | 'none'): { status: null } {
  if (reason === 'none') return { status: null };
  throw notDelivered('an earlier call made this attempt, and its result is unknown');
}

/** Every attempt has its own signature, over exactly the bytes that are sent. */
function signed(runId: string, webhook: PendingWebhook, now: Date) {
  const { url, body, deliveryId, secret, attempt } = webhook;
  const unixSeconds = Math.floor(now.getTime() / 1_000);
  const base = signatureBase(unixSeconds, body);
  const hmac = createHmac('sha256', secret).update(base).digest('hex');
  return { url, body, headers: webhookHeaders({ runId, deliveryId, attempt, unixSeconds, hmac }) };
}

function resultOf(outcome: WebhookOutcome): { status: number | null; error: string | null } {
  return outcome.outcome === 'answered'
    ? { status: outcome.status, error: null }
    : { status: null, error: outcome.reason };
}

function toActivityResult(outcome: WebhookOutcome): { status: number } {
  switch (outcome.outcome) {
    case 'answered':
      if (outcome.status >= 200 && outcome.status < 300) return { status: outcome.status };
      throw notDelivered(`the receiver answered ${outcome.status}`);
    case 'failed':
      throw notDelivered(`the receiver was not reached: ${outcome.reason}`);
    case 'blocked':
      throw abandoned(`the callback address is blocked: ${outcome.reason}`);
  }
}

/** Receiver errors are `BENIGN`: they must not count as service errors. */
const notDelivered = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'WebhookNotDelivered', category: 'BENIGN' });

const abandoned = (message: string): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: 'WebhookAbandoned',
    category: 'BENIGN',
    nonRetryable: true,
  });
