import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import type { Logger } from 'pino';
import { failpoint } from '../core/failpoint.ts';
import { limits } from '../core/limits.ts';
import { signatureBase, webhookHeaders } from '../core/webhook.ts';
import type { WebhookStore } from '../systems/postgres/webhook-store.ts';
import type { WebhookOutcome, WebhookSender } from '../worker/webhook/send-webhook.ts';

export interface WebhookDeps {
  webhooks: Pick<WebhookStore, 'claimAttempt' | 'recordAttempt'>;
  sendWebhook: WebhookSender;
  logger: Logger;
  now: () => Date;
}

type Owed = Extract<Awaited<ReturnType<WebhookStore['claimAttempt']>>, { url: string }>;

/**
 * One attempt. It is claimed before it is made, so that one which dies in between is used up: no
 * receiver gets more than four of a delivery, whoever crashes when.
 */
export async function deliverOnce(
  deps: WebhookDeps,
  { runId, attempt, delivery }: { runId: string; attempt: number; delivery: number },
): Promise<{ status: number | null }> {
  if (attempt > limits.webhookAttempts) throw givenUp('no attempt is left');
  const owed = await deps.webhooks.claimAttempt(runId, attempt, delivery);
  if ('done' in owed) return { status: owed.done };
  if ('refused' in owed) return alreadyMade(owed.refused);
  failpoint('webhook.claimed');
  const from = performance.now();
  const outcome = await deps.sendWebhook(signed(runId, owed, deps.now()));
  failpoint('webhook.sent');
  const tookMs = Math.round(performance.now() - from);
  const about = { runId, requestId: owed.requestId, delivery, attempt };
  deps.logger.info({ ...about, ...outcome, tookMs }, 'webhook_attempt');
  await deps.webhooks.recordAttempt(runId, attempt, { ...resultOf(outcome), delivery });
  failpoint('webhook.recorded');
  return judge(outcome);
}

function alreadyMade(reason: 'taken' | 'none'): { status: null } {
  if (reason === 'none') return { status: null };
  throw notDelivered('this attempt was made before, and its outcome is not known');
}

/** Signed afresh for every attempt, over exactly the bytes that are sent. */
function signed(runId: string, owed: Owed, now: Date) {
  const { url, body, deliveryId, secret, attempt } = owed;
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

function judge(outcome: WebhookOutcome): { status: number } {
  switch (outcome.outcome) {
    case 'answered':
      if (outcome.status >= 200 && outcome.status < 300) return { status: outcome.status };
      throw notDelivered(`the receiver answered ${outcome.status}`);
    case 'failed':
      throw notDelivered(`the receiver was not reached: ${outcome.reason}`);
    case 'refused':
      throw givenUp(`the callback address is refused: ${outcome.reason}`);
  }
}

/** A receiver that fails is nothing for this service's error metrics. */
const notDelivered = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'WebhookNotDelivered', category: 'BENIGN' });

const givenUp = (message: string): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: 'WebhookGivenUp',
    category: 'BENIGN',
    nonRetryable: true,
  });
