import { ApplicationFailure } from '@temporalio/activity';
import type { Logger } from 'pino';
import { failpoint } from '../core/failpoint.ts';
import { limits } from '../core/limits.ts';
import { type WebhookOutcome, type WebhookSender, webhookHeaders } from '../core/webhook.ts';
import { retryUntilAborted } from '../lib/async/retry.ts';
import { untilAborted } from '../lib/async/until-aborted.ts';
import { signWebhook } from '../lib/sign-webhook.ts';
import type { AttemptClaim, ClaimedAttempt } from '../systems/postgres/runs/claim-attempt.ts';
import type { AttemptResult } from '../systems/postgres/runs/record-attempt.ts';
import type { RunActivities } from '../workflows/shared/activities.ts';
import type { BodyMemory } from './body-memory.ts';
import type { DeliveryExecution } from './delivery-progress.ts';

/** Stores the attempts for the webhooks of runs, or for events for endpoints. */
interface AttemptStore {
  claimAttempt(claim: AttemptClaim): Promise<ClaimedAttempt>;
  recordAttempt(id: string, attempt: number, result: AttemptResult): Promise<void>;
}

export interface WebhookDeps {
  webhooks: AttemptStore;
  sendWebhook: WebhookSender;
  onWebhookAttempt(outcome: WebhookOutcome, tookMs: number): void;
  claimTimeoutMs?: number;
  logger: Logger;
  now: () => Date;
}

type PendingWebhook = Extract<ClaimedAttempt, { url: string }>;
type EndRun = Pick<RunActivities, 'endRun'>;

export interface Execution extends DeliveryExecution {
  /** The ID of the run or of the event. */
  id: string;
  /** The same ID for the log. */
  logFields: { runId: string } | { eventId: string };
  delivery: number;
  memory: BodyMemory;
}

/**
 * Makes the next attempt. It is claimed before it is made, so a crash in between uses it up: a
 * receiver gets at most four attempts of a delivery. If the claim gets no answer, a later call
 * makes the attempt.
 */
export async function attemptDelivery(
  deps: WebhookDeps & EndRun,
  execution: Execution,
): Promise<{ status: number | null }> {
  try {
    return await makeAttempt(deps, execution);
  } finally {
    execution.memory.release();
  }
}

async function makeAttempt(
  deps: WebhookDeps & EndRun,
  execution: Execution,
): Promise<{ status: number | null }> {
  const { delivery } = execution;
  const claimed = await claimInTime(deps, execution);
  if ('done' in claimed) return { status: claimed.done };
  if ('unavailable' in claimed) return withoutAttempt(claimed.unavailable);
  if ('dueInMs' in claimed) throw notDelivered('the next attempt is not due yet', claimed.dueInMs);
  const { attempt, requestId } = claimed;
  execution.report({ made: attempt, unanswered: null });
  failpoint('webhook.claimed');
  const startedAt = performance.now();
  const outcome = await deps.sendWebhook(signed(claimed, deps.now()));
  const tookMs = performance.now() - startedAt;
  deps.onWebhookAttempt(outcome, tookMs);
  failpoint('webhook.sent');
  const logFields = { ...execution.logFields, requestId, delivery, attempt };
  deps.logger.info({ ...logFields, ...outcome, tookMs: Math.round(tookMs) }, 'webhook_attempt');
  await recordInTime(deps, { id: execution.id, logFields }, resultOf(outcome));
  failpoint('webhook.recorded');
  return toActivityResult(outcome, attempt);
}

type Claimed = Exclude<ClaimedAttempt, { unended: true }>;

/**
 * A claim without an answer may have been stored, or be stored later. Its attempt is not lost: this
 * execution sends nothing and reports that, so that the next one may take the attempt over.
 */
async function claimInTime(deps: WebhookDeps & EndRun, execution: Execution): Promise<Claimed> {
  const { made, unanswered, execution: to, report } = execution;
  const signal = AbortSignal.timeout(deps.claimTimeoutMs ?? limits.webhook.claimTimeoutMs);
  try {
    return await untilAborted(claim(deps, { ...execution, signal }), signal);
  } catch (error) {
    report({ made, unanswered: { from: unanswered?.from ?? to, to } });
    throw error;
  }
}

/**
 * A delivery starts after the run's end. A run without an end was restored from a backup that lost
 * it, so it ends here, and the remaining attempts deliver that end.
 */
async function claim(
  deps: WebhookDeps & EndRun,
  execution: Execution & { signal: AbortSignal },
): Promise<Claimed> {
  const { reserve } = execution.memory;
  const claimed = await deps.webhooks.claimAttempt({ ...execution, reserve });
  if (!('unended' in claimed)) return claimed;
  await deps.endRun({ runId: execution.id, ...endLost, exitCode: null });
  return claim(deps, execution);
}

const endLost = {
  cause: 'max_reconnects_exceeded',
  detail: 'the database restore lost its end',
} as const;

type Unavailable = Extract<ClaimedAttempt, { unavailable: string }>['unavailable'];

function withoutAttempt(reason: Unavailable): { status: null } {
  switch (reason) {
    case 'none':
      return { status: null };
    case 'none_left':
      throw abandoned('no attempt is left');
    case 'taken':
      throw notDelivered('another call makes this attempt');
    case 'no_memory':
      throw notDelivered('the attempt waits for memory', limits.webhook.memoryRetryMs);
  }
}

interface MadeAttempt {
  id: string;
  /** Fields of the log. */
  logFields: { requestId: string | null; delivery: number; attempt: number };
}

/** Without its result, an attempt that was answered with 2xx would be followed by another one. */
function recordInTime(
  { webhooks, logger }: WebhookDeps,
  { id, logFields }: MadeAttempt,
  result: { status: number | null; error: string | null },
): Promise<void> {
  const { attempt, delivery } = logFields;
  return retryUntilAborted(() => webhooks.recordAttempt(id, attempt, { ...result, delivery }), {
    signal: AbortSignal.timeout(limits.webhook.recordTimeoutMs),
    onFailure: (err) => logger.warn({ err, ...logFields }, 'webhook_result_write_failed'),
  });
}

/** Every attempt has its own signatures, over exactly the bytes that are sent. */
function signed(webhook: PendingWebhook, now: Date) {
  const { event, runId, url, body, deliveryId, secret, nextSecret, attempt } = webhook;
  const unixSeconds = Math.floor(now.getTime() / 1_000);
  const sign = (key: string) => signWebhook(key, { deliveryId, unixSeconds, body });
  const signatures = {
    signature: sign(secret),
    nextSignature: nextSecret === null ? null : sign(nextSecret),
  };
  const headerFields = { event, runId, deliveryId, attempt, unixSeconds };
  const headers = webhookHeaders({ ...headerFields, ...signatures });
  return { url, body, headers };
}

function resultOf(outcome: WebhookOutcome): { status: number | null; error: string | null } {
  return outcome.outcome === 'answered'
    ? { status: outcome.status, error: null }
    : { status: null, error: outcome.reason };
}

function toActivityResult(outcome: WebhookOutcome, attempt: number): { status: number } {
  switch (outcome.outcome) {
    case 'answered':
      if (outcome.status >= 200 && outcome.status < 300) return { status: outcome.status };
      throw failed(`the receiver answered ${outcome.status}`, attempt);
    case 'failed':
      throw failed(`the receiver was not reached: ${outcome.reason}`, attempt);
    case 'blocked':
      throw abandoned(`the callback address is blocked: ${outcome.reason}`);
  }
}

/** The number of the attempt determines the delay of the next one. */
function failed(message: string, attempt: number): ApplicationFailure {
  const delayMs = limits.webhook.delaysMs[attempt - 1];
  return delayMs === undefined ? abandoned(message) : notDelivered(message, delayMs);
}

/** Receiver errors are `BENIGN`: they must not count as service errors. */
const notDelivered = (message: string, nextRetryDelay?: number): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: 'WebhookNotDelivered',
    category: 'BENIGN',
    ...(nextRetryDelay !== undefined && { nextRetryDelay }),
  });

const abandoned = (message: string): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: 'WebhookAbandoned',
    category: 'BENIGN',
    nonRetryable: true,
  });
