import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import type { Logger } from 'pino';
import { failpoint } from '../core/failpoint.ts';
import { limits } from '../core/limits.ts';
import { signatureBase, webhookHeaders } from '../core/webhook.ts';
import type { ClaimedAttempt, WebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import type { WebhookOutcome, WebhookSender } from '../worker/webhook/send-webhook.ts';
import type { RunActivities } from '../workflows/shared/activities.ts';

export interface WebhookDeps {
  webhooks: Pick<WebhookStore, 'claimAttempt' | 'recordAttempt'>;
  sendWebhook: WebhookSender;
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
 * One attempt. It is claimed before it is made, so that one which dies in between is used up: no
 * receiver gets more than four of a delivery, whoever crashes when.
 */
export async function attemptDelivery(
  deps: WebhookDeps & EndRun,
  { runId, attempt, delivery }: AttemptId,
): Promise<{ status: number | null }> {
  if (attempt > limits.webhookAttempts) throw givenUp('no attempt is left');
  const owed = await claim(deps, { runId, attempt, delivery });
  if ('done' in owed) return { status: owed.done };
  if ('refused' in owed) return duplicateAttempt(owed.refused);
  failpoint('webhook.claimed');
  const from = performance.now();
  const outcome = await deps.sendWebhook(signed(runId, owed, deps.now()));
  failpoint('webhook.sent');
  const tookMs = Math.round(performance.now() - from);
  const about = { runId, requestId: owed.requestId, delivery, attempt };
  deps.logger.info({ ...about, ...outcome, tookMs }, 'webhook_attempt');
  await deps.webhooks.recordAttempt(runId, attempt, { ...resultOf(outcome), delivery });
  failpoint('webhook.recorded');
  return toActivityResult(outcome);
}

/**
 * Whoever delivers has ended the run before. Where it has not ended, the database was restored from a
 * backup and has lost that: it ends now, and what is left of the attempts says so.
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
  detail: 'the database has lost its end',
} as const;

function duplicateAttempt(reason: 'taken' | 'none'): { status: null } {
  if (reason === 'none') return { status: null };
  throw notDelivered('this attempt was made before, and its outcome is not known');
}

/** Signed afresh for every attempt, over exactly the bytes that are sent. */
function signed(runId: string, owed: PendingWebhook, now: Date) {
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

function toActivityResult(outcome: WebhookOutcome): { status: number } {
  switch (outcome.outcome) {
    case 'answered':
      if (outcome.status >= 200 && outcome.status < 300) return { status: outcome.status };
      throw notDelivered(`the receiver answered ${outcome.status}`);
    case 'failed':
      throw notDelivered(`the receiver was not reached: ${outcome.reason}`);
    case 'blocked':
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
